"""A transformer of two layers that learns to sort.

    python examples/transformer.py

It reads numbers in any order, then a mark, then writes them in order: what comes next
can only be known by looking at all that was read. Causal attention with several heads,
layer normalisation before each block (Xiong et al., "On Layer Normalization in the
Transformer Architecture", 2020, https://arxiv.org/abs/2002.04745), and a learning rate
that warms up.
"""

import argparse

import numpy as np
from tqdm import tqdm

import srcjax
import srcjax.numpy as jnp
from srcjax import nn, optim, random, value_and_grad

DIGITS = 10  # the symbol after them is the mark between what is read and written


def init_block(key, size):
    """Attention with projections of queries, keys and values, and two dense layers."""
    keys = random.split(key, 4)
    return {
        "before attention": nn.layer_norm_init(size),
        "queries, keys, values": nn.dense_init(keys[0], size, 3 * size),
        "after heads": nn.dense_init(keys[1], size, size),
        "before dense": nn.layer_norm_init(size),
        "wide": nn.dense_init(keys[2], size, 4 * size),
        "narrow": nn.dense_init(keys[3], 4 * size, size),
    }


def init_params(key, length, size, layers=2):
    """Vectors for symbols and places, blocks, and logits."""
    of_symbols, of_places, of_blocks, of_logits = random.split(key, 4)
    return {
        "symbols": nn.embedding_init(of_symbols, DIGITS + 1, size),
        "places": nn.embedding_init(of_places, length, size),
        "blocks": [init_block(k, size) for k in random.split(of_blocks, layers)],
        "norm": nn.layer_norm_init(size),
        "logits": nn.dense_init(of_logits, size, DIGITS + 1),
    }


def attention(block, x, heads):
    """Each place looks at those before it: (batch, length, size) -> the same."""
    batch, length, size = x.shape
    together = nn.dense(block["queries, keys, values"], x)
    q, k, v = (
        part.reshape(batch, length, heads, size // heads)
        for part in jnp.split(together, 3, axis=-1)
    )
    seen = nn.dot_product_attention(q, k, v, is_causal=True)
    return nn.dense(block["after heads"], seen.reshape(batch, length, size))


def predict(params, symbols, heads=4):
    """The logits of each next symbol: (batch, length) -> (batch, length, symbols)."""
    x = nn.embedding(params["symbols"], symbols) + params["places"]["table"]
    for block in params["blocks"]:
        x = x + attention(block, nn.layer_norm(block["before attention"], x), heads)
        wide = nn.gelu(nn.dense(block["wide"], nn.layer_norm(block["before dense"], x)))
        x = x + nn.dense(block["narrow"], wide)
    return nn.dense(params["logits"], nn.layer_norm(params["norm"], x))


def loss(params, symbols):
    """The mean cross-entropy of what is written: of the second half of the symbols."""
    half = symbols.shape[1] // 2
    logits = predict(params, symbols[:, :-1])[:, half:]
    targets = symbols[:, half + 1 :]
    return optim.softmax_cross_entropy_with_integer_labels(logits, targets).mean()


def draw(key, batch, count):
    """Numbers, the mark, and the numbers in order: (batch, 2 * count + 1)."""
    numbers = random.randint(key, (batch, count), 0, DIGITS)
    mark = jnp.full((batch, 1), DIGITS)
    return jnp.concatenate([numbers, mark, jnp.sort(numbers, axis=1)], axis=1)


def sort(params, numbers):
    """Write the numbers in order, one after the other: (batch, count) -> the same."""
    batch, count = numbers.shape
    symbols = np.full((batch, 2 * count), DIGITS)
    symbols[:, :count] = numbers
    for place in range(count, 2 * count):
        found = predict(params, symbols)[:, place].argmax(axis=-1)
        if place + 1 < 2 * count:
            symbols[:, place + 1] = found
    return np.concatenate([symbols[:, count + 1 :], found[:, None]], axis=1)


def train(steps, count, size, batch=64):
    """Parameters, and the loss of each step."""
    rates = optim.warmup_cosine_decay_schedule(0.0, 3e-3, steps // 10, steps)
    optimizer = optim.adam(rates)

    def step(params, state, symbols):
        value, grads = value_and_grad(loss)(params, symbols)
        updates, state = optimizer.update(grads, state, params)
        return optim.apply_updates(params, updates), state, value

    params = init_params(random.key(0), 2 * count, size)
    state, losses = optimizer.init(params), []
    bar = tqdm(random.split(random.key(1), steps), unit="step")
    for key in bar:
        params, state, value = step(params, state, draw(key, batch, count))
        losses.append(value)
        bar.set_postfix(loss=f"{value:.3f}")
    return params, losses


def main(given=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--small", action="store_true", help="a few steps, for tests")
    parser.add_argument("--plot", metavar="FILE", help="needs matplotlib")
    parser.add_argument("--source", action="store_true", help="show the gradient")
    options = parser.parse_args(given)
    steps, count, size = (60, 3, 16) if options.small else (options.steps, 8, 64)
    params, losses = train(steps, count, size)
    numbers = draw(random.key(2), 100, count)[:, :count]
    right = (sort(params, numbers) == np.sort(numbers, axis=1)).all(axis=1).mean()
    print(f"loss {losses[-1]:.4f}, sorted without a fault: {right:.0%}")
    if options.plot:
        import matplotlib.pyplot as plt

        plt.semilogy(losses)
        plt.gca().set(xlabel="step", ylabel="loss of a number (nats)")
        plt.savefig(options.plot)
    if options.source:
        symbols = draw(random.key(3), 8, count)
        print(srcjax.source(srcjax.grad(loss), params, symbols))
    return losses


if __name__ == "__main__":
    main()
