"""JAX's first example, an MLP that reads digits: scikit-learn's, of 8 by 8 pixels.

    python examples/mlp.py                      # accuracy on digits it has not seen
    python examples/mlp.py --plot digits.png    # and how it got there
    python examples/mlp.py --source             # and the gradient that trained it

It is the example of JAX's README (https://github.com/jax-ml/jax), with its imports
changed, and an optimizer.
"""

import argparse

from sklearn.datasets import load_digits
from tqdm import tqdm

import srcjax
import srcjax.numpy as jnp
from srcjax import grad, nn, optim, random

optimizer = optim.sgd(0.1, momentum=0.9)


def init_params(key, sizes):
    """A weight matrix and a bias for each layer."""
    keys = random.split(key, len(sizes) - 1)
    return [
        nn.dense_init(k, n, m)
        for k, n, m in zip(keys, sizes[:-1], sizes[1:], strict=True)
    ]


def predict(params, images):
    """The logits of the ten digits: (batch, 64) -> (batch, 10)."""
    for layer in params[:-1]:
        images = jnp.tanh(nn.dense(layer, images))
    return nn.dense(params[-1], images)


def loss(params, images, labels):
    """The mean cross-entropy of the labels, which are whole numbers: (batch,)."""
    logits = predict(params, images)
    return optim.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def step(params, state, images, labels):
    """The parameters and the optimizer's state after one batch."""
    grads = grad(loss)(params, images, labels)
    updates, state = optimizer.update(grads, state, params)
    return optim.apply_updates(params, updates), state


def accuracy(params, images, labels):
    """The share of images whose largest logit is that of the label."""
    return (predict(params, images).argmax(axis=1) == labels).mean()


def load_data():
    """Images from 0 to 1 and labels, for training and for testing."""
    digits = load_digits()
    images, labels = digits.data.astype("float32") / 16, digits.target
    return (images[:1536], labels[:1536]), (images[1536:], labels[1536:])


def train(epochs, batch=128, sizes=(64, 128, 10)):
    """Parameters, and after each epoch the loss and the accuracy on the test images."""
    (images, labels), test = load_data()
    params = init_params(random.key(0), sizes)
    state, history = optimizer.init(params), []
    for epoch in tqdm(range(epochs), unit="epoch"):
        order = random.permutation(random.key(epoch), len(images))
        for rows in order.reshape(-1, batch):
            params, state = step(params, state, images[rows], labels[rows])
        history.append((loss(params, images, labels), accuracy(params, *test)))
    return params, history


def plot(history, path):
    """Write a picture of the loss and of the accuracy after each epoch."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(ncols=2, figsize=(9, 3.5))
    left.semilogy([value for value, _ in history])
    left.set(xlabel="epoch", ylabel="loss (training)")
    right.plot([share for _, share in history])
    right.set(xlabel="epoch", ylabel="accuracy (test)")
    figure.tight_layout()
    figure.savefig(path)


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--small", action="store_true", help="a few epochs, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    params, history = train(epochs=5 if options.small else options.epochs)
    print(f"loss {history[-1][0]:.4f}, accuracy {history[-1][1]:.3f}")
    if options.plot:
        plot(history, options.plot)
    if options.source:
        _, test = load_data()
        print(srcjax.source(grad(loss), params, *test))
    return history


if __name__ == "__main__":
    main()
