"""An MLP on the digits, trained by all devices at a time.

    python examples/data_parallel.py --devices 4        # four threads
    mpiexec -n 4 python examples/data_parallel.py       # four processes

Each device computes the gradient of its share of a batch; `pmean` makes one of them.
The parameters are the same on all devices, and those that one device alone would find.
After each epoch the first process writes what has been learned to a file, and the next
start goes on from there.
"""

import argparse
import os
from functools import partial
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from tqdm import tqdm

import srcjax
from srcjax import lax, nn, optim, pmap, tree, value_and_grad

optimizer = optim.adam(3e-3)


def init_params(sizes, rng):
    """A weight matrix and a bias for each layer."""
    return [
        (rng.normal(size=(n, m)) / np.sqrt(n), np.zeros(m))
        for n, m in zip(sizes[:-1], sizes[1:], strict=True)
    ]


def predict(params, images):
    """The logits of the ten digits: (batch, 64) -> (batch, 10)."""
    for W, b in params[:-1]:
        images = np.tanh(images @ W + b)
    W, b = params[-1]
    return images @ W + b


def loss(params, images, labels):
    """The mean cross-entropy of the labels, which are one-hot: (batch, 10)."""
    return -np.mean(np.sum(labels * nn.log_softmax(predict(params, images)), axis=-1))


@partial(pmap, axis_name="devices", in_axes=(None, None, 0, 0), out_axes=None)
def step(params, state, images, labels):
    """One step: the share of one device, and the mean over all of them."""
    value, grads = value_and_grad(loss)(params, images, labels)
    grads = lax.pmean(grads, "devices")
    updates, state = optimizer.update(grads, state, params)
    return optim.apply_updates(params, updates), state, lax.pmean(value, "devices")


def load_data():
    """Images from 0 to 1 and one-hot labels, for training and for testing."""
    digits = load_digits()
    images, labels = digits.data / 16.0, np.eye(10)[digits.target]
    return (images[:1536], labels[:1536]), (images[1536:], labels[1536:])


def shares(batch):
    """This process's part of a batch, with an item for each of its devices."""
    mine = np.split(batch, srcjax.process_count())[srcjax.process_index()]
    return np.stack(np.split(mine, srcjax.local_device_count()))


def save(path, epoch, params, state):
    """Write what has been learned; a file that is there is replaced at once."""
    leaves = tree.leaves((params, state))
    unfinished = path.with_name(f"unfinished_{path.name}")
    np.savez(unfinished, *leaves, epoch=epoch)
    os.replace(unfinished, path)


def restore(path, params, state):
    """What a file holds, in the structure of what is given: epoch, params, state."""
    with np.load(path) as file:
        leaves = [file[f"arr_{k}"] for k in range(len(file.files) - 1)]
        structure = tree.structure((params, state))
        return int(file["epoch"]), *tree.unflatten(structure, leaves)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--devices", type=int, default=1, help="threads a process")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=256, help="images a step")
    parser.add_argument("--checkpoint", type=Path, help="a file.npz to go on from")
    parser.add_argument(
        "--source", action="store_true", help="show one device's program"
    )
    given = parser.parse_args()
    srcjax.config.update("jax_num_cpu_devices", given.devices)
    first = srcjax.process_index() == 0

    (images, labels), (test_images, test_labels) = load_data()
    params = init_params([64, 32, 10], np.random.default_rng(0))
    state, done = optimizer.init(params), 0
    if given.checkpoint and given.checkpoint.exists():
        done, params, state = restore(given.checkpoint, params, state)
    if given.source and first:
        batch = shares(images[: given.batch]), shares(labels[: given.batch])
        print(srcjax.source(step, params, state, *batch))

    steps = len(images) // given.batch
    total = (given.epochs - done) * steps
    with tqdm(total=total, disable=not first, unit="step") as bar:
        for epoch in range(done, given.epochs):
            order = np.random.default_rng(epoch).permutation(len(images))
            for rows in np.split(order[: steps * given.batch], steps):
                batch = shares(images[rows]), shares(labels[rows])
                params, state, value = step(params, state, *batch)
                bar.update()
                bar.set_postfix(epoch=epoch + 1, loss=f"{value:.3f}")
            if given.checkpoint and first:
                save(given.checkpoint, epoch + 1, params, state)
    if first:
        hits = predict(params, test_images).argmax(1) == test_labels.argmax(1)
        print(f"{srcjax.device_count()} devices, accuracy {hits.mean():.3f}")


if __name__ == "__main__":
    main()
