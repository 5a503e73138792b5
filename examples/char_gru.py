"""A GRU that learns to write like a text, one character after the other.

    python examples/char_gru.py                 # srcjax's own README
    python examples/char_gru.py --text novel.txt --steps 3000

`nn.gru_cell` reads a character and gives the logits of the next one; `lax.scan` goes
through the text. Sampling runs the cell on what it has drawn itself.
"""

import argparse
from pathlib import Path

import numpy as np
from tqdm import tqdm

import srcjax
import srcjax.numpy as jnp
from srcjax import lax, nn, optim, random, value_and_grad

optimizer = optim.chain(optim.clip_by_global_norm(1.0), optim.adam(3e-3))


def init_params(key, symbols, size):
    """A vector for each symbol, a cell of `size` numbers, and its logits."""
    of_symbols, of_cell, of_logits = random.split(key, 3)
    return {
        "symbols": nn.embedding_init(of_symbols, symbols, size),
        "cell": nn.gru_cell_init(of_cell, size, size),
        "logits": nn.dense_init(of_logits, size, symbols),
    }


def loss(params, texts):
    """The mean cross-entropy of each next symbol, for texts: (batch, length)."""

    def read(state, symbols):
        x = nn.embedding(params["symbols"], symbols)
        return nn.gru_cell(params["cell"], state, x)

    start = jnp.zeros((len(texts), params["logits"]["w"].shape[0]), jnp.float32)
    _, states = lax.scan(read, start, texts[:, :-1].T)
    logits = nn.dense(params["logits"], states)
    targets = texts[:, 1:].T
    return optim.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


def step(params, state, texts):
    """The parameters and the optimizer's state after one batch, and its loss."""
    value, grads = value_and_grad(loss)(params, texts)
    updates, state = optimizer.update(grads, state, params)
    return optim.apply_updates(params, updates), state, value


def write(params, key, first, length):
    """So many symbols, each drawn with the probabilities that the ones before give."""
    state, symbol = jnp.zeros(params["logits"]["w"].shape[0], jnp.float32), first
    written = [symbol]
    for k in random.split(key, length):
        x = nn.embedding(params["symbols"], symbol)
        state, _ = nn.gru_cell(params["cell"], state, x)
        symbol = random.categorical(k, nn.dense(params["logits"], state))
        written.append(symbol)
    return written


def train(text, steps, size, length, batch=32):
    """Parameters, the loss of each step, and the symbols, in order."""
    alphabet, numbers = np.unique(list(text), return_inverse=True)
    params = init_params(random.key(0), len(alphabet), size)
    state, losses = optimizer.init(params), []
    bar = tqdm(random.split(random.key(1), steps), unit="step")
    for key in bar:
        starts = random.randint(key, (batch, 1), 0, len(numbers) - length)
        texts = numbers[starts + np.arange(length)]
        params, state, value = step(params, state, texts)
        losses.append(value)
        bar.set_postfix(loss=f"{value:.3f}")
    return params, losses, alphabet


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    readme = Path(__file__).parents[1] / "README.md"
    parser.add_argument("--text", type=Path, default=readme)
    parser.add_argument("--steps", type=int, default=600)
    parser.add_argument("--small", action="store_true", help="a few steps, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    size, length, steps = (16, 12, 40) if options.small else (128, 64, options.steps)
    text = options.text.read_text(encoding="utf-8")
    params, losses, alphabet = train(text, steps, size, length)
    written = write(params, random.key(2), 0, 40 if options.small else 300)
    print("".join(alphabet[written]))
    if options.plot:
        import matplotlib.pyplot as plt

        plt.plot(losses)
        plt.gca().set(xlabel="step", ylabel="loss of a character (nats)")
        plt.savefig(options.plot)
    if options.source:
        texts = np.zeros((32, length), int)
        print(srcjax.source(srcjax.grad(loss), params, texts))
    return losses


if __name__ == "__main__":
    main()
