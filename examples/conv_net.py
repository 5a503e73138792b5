"""A small convolutional net that reads digits, on images that are moved and turned.

    python examples/conv_net.py
    python examples/conv_net.py --plot digits.png    # what the first layer looks for

Two convolutions with pooling, batch normalisation (whose state goes through the loss as
`has_aux`) and dropout with keys.
"""

import argparse

from sklearn.datasets import load_digits
from tqdm import tqdm

import srcjax
import srcjax.numpy as jnp
from srcjax import nn, optim, random, value_and_grad

optimizer = optim.adamw(3e-3, weight_decay=1e-4)


def init_params(key, channels=(8, 16)):
    """Two convolutions with a normalisation each, and a dense layer."""
    keys = random.split(key, 3)
    few, many = channels
    return {
        "first": nn.conv_init(keys[0], 1, few),
        "first norm": nn.batch_norm_init(few),
        "second": nn.conv_init(keys[1], few, many),
        "second norm": nn.batch_norm_init(many),
        "logits": nn.dense_init(keys[2], 2 * 2 * many, 10),
    }


def init_state(channels=(8, 16)):
    """The means and variances that normalisations have seen."""
    return [nn.batch_norm_state(n) for n in channels]


def predict(params, state, images, key, training):
    """The logits, (batch, 8, 8, 1) -> (batch, 10), and what the state is then."""
    x = nn.conv(params["first"], images)
    x, first = nn.batch_norm(params["first norm"], state[0], x, training, 0.9)
    x = nn.max_pool(nn.relu(x))
    x = nn.conv(params["second"], x)
    x, second = nn.batch_norm(params["second norm"], state[1], x, training, 0.9)
    x = nn.max_pool(nn.relu(x))
    x = nn.dropout(key, x.reshape(len(x), -1), 0.2, training)
    return nn.dense(params["logits"], x), [first, second]


def loss(params, state, images, labels, key):
    """The mean cross-entropy of labels (batch,), and the state."""
    logits, state = predict(params, state, images, key, training=True)
    losses = optim.softmax_cross_entropy_with_integer_labels(logits, labels)
    return losses.mean(), state


def step(params, state, memory, images, labels, key):
    """Parameters, state and the optimizer's memory after one batch, and its loss."""
    (value, state), grads = value_and_grad(loss, has_aux=True)(
        params, state, images, labels, key
    )
    updates, memory = optimizer.update(grads, memory, params)
    return optim.apply_updates(params, updates), state, memory, value


def accuracy(params, state, images, labels):
    """The share of images whose largest logit is that of the label."""
    logits, _ = predict(params, state, images, random.key(0), training=False)
    return (logits.argmax(axis=1) == labels).mean()


def load_data():
    """Images (batch, 8, 8, 1) from 0 to 1 and labels, for training and for testing."""
    digits = load_digits()
    images = digits.images[..., None].astype("float32") / 16
    return (images[:1536], digits.target[:1536]), (images[1536:], digits.target[1536:])


def train(epochs, batch=64):
    """Parameters, state, and the losses of epochs with the accuracies after them."""
    (images, labels), test = load_data()
    params, state = init_params(random.key(0)), init_state()
    memory, history = optimizer.init(params), []
    bar = tqdm(range(epochs), unit="epoch")
    for epoch in bar:
        key, of_order = random.split(random.key(epoch))
        order = random.permutation(of_order, len(images)).reshape(-1, batch)
        values = []
        for rows, k in zip(order, random.split(key, len(order)), strict=True):
            params, state, memory, value = step(
                params, state, memory, images[rows], labels[rows], k
            )
            values.append(value)
        history.append((jnp.mean(values), accuracy(params, state, *test)))
        bar.set_postfix(loss=f"{history[-1][0]:.3f}", accuracy=f"{history[-1][1]:.3f}")
    return params, state, history


def plot(params, history, path):
    """Write a picture of how it learned, and of the kernels of its first layer."""
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=(9, 3.5), layout="constrained")
    left, right = figure.subfigures(ncols=2)
    axes = left.subplots()
    axes.plot([value for value, _ in history], label="loss (training)")
    axes.plot([1 - share for _, share in history], label="errors (test)")
    axes.set(xlabel="epoch", yscale="log")
    axes.legend()
    kernels = jnp.moveaxis(params["first"]["w"][:, :, 0], -1, 0)
    for place, kernel in zip(right.subplots(2, 4).flat, kernels, strict=True):
        place.imshow(kernel, cmap="gray")
        place.axis("off")
    figure.savefig(path)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--small", action="store_true", help="one epoch, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    params, state, history = train(epochs=1 if options.small else options.epochs)
    print(f"loss {history[-1][0]:.4f}, accuracy {history[-1][1]:.3f}")
    if options.plot:
        plot(params, history, options.plot)
    if options.source:
        gradient = srcjax.grad(loss, has_aux=True)
        _, test = load_data()
        print(srcjax.source(gradient, params, state, *test, random.key(0)))
    return history


if __name__ == "__main__":
    main()
