"""Jacobians column by column, or row by row."""

from __future__ import annotations

from typing import Any

import gast

from srcjax import syntax
from srcjax.analysis.types import Tuple, Type, is_number, rank_of, shape_of
from srcjax.api.jacobian_texts.text import (
    Writer,
    identifier,
    leaves_of,
    needs_examples,
    shape_text,
)


class Columns(Writer):
    """`jacfwd`: a pushforward along each element of the arguments."""

    def parameters(self) -> gast.arguments:
        arguments = syntax.clone(self.module.functions[-1].args)
        if self.module.entry == self.entry:  # already added
            return arguments
        count = len(self.transform.wrt)
        if self.by_position:
            arguments.args = arguments.args[:-count]
        else:
            arguments.kwonlyargs = arguments.kwonlyargs[:-count]
            arguments.kw_defaults = arguments.kw_defaults[:-count]
        return arguments

    @property
    def by_position(self) -> bool:
        """Whether tangents follow the arguments by position."""
        names = self.module.functions[-1].args.kwonlyargs
        return not names

    def pushed(self, dots: dict[str, str]) -> str:
        """The call with these tangents of the arguments."""
        function = self.module.functions[-1]
        arguments = function.args
        last = arguments.args if self.by_position else arguments.kwonlyargs
        names = [a.id for a in last[-len(self.transform.wrt) :]]
        values = [dots[n] for n in self.transform.wrt]
        if not self.by_position:
            values = list(map("=".join, zip(names, values, strict=True)))
        return f"{function.name}({', '.join([*self.user_arguments(), *values])})"

    def known(self) -> str:
        outputs = leaves_of(self.value, "")
        transform = self.transform
        inside = "[1][0]" if transform.has_aux else ""
        wrt = {n: self.types[n] for n in transform.wrt}
        leaves = [leaf for n in wrt for leaf in leaves_of(wrt[n], n)]
        #: For each output, the block of each input by its path.
        blocks: list[dict[str, str]] = [{} for _ in outputs]
        aux = ""
        for path, t in leaves:
            number = is_number(t) or shape_of(t) == ()
            empty = 0 in (shape_of(t) or ())
            base = identifier(path)
            dot = self.names.fresh(f"{base}_dot")
            kind = "column" if number or empty else "columns"
            value = self.names.fresh(kind if len(leaves) == 1 else f"{kind}_{base}")
            moved = dot
            if number:
                moved = "1.0" if is_number(t) else f"np.ones_like({path})"
            elif empty:
                moved = f"np.zeros_like({path})"
            dots = {n: self.rebuilt(wrt[n], {path: moved}, n) for n in wrt}
            call = self.pushed(dots)
            bare = [p for p, _ in outputs] == [""] and path in wrt
            if number and bare and transform.single and not transform.has_aux:
                return call
            if number or empty:
                self.line(f"{value} = {call}")
                aux = aux or f"{value}[0][1]"
                for block, (out, u) in zip(blocks, outputs, strict=True):
                    block[path] = f"{value}{inside}{out}"
                    if empty:
                        shape = f"{shape_text(block[path], u)} + {path}.shape"
                        block[path] = f"np.zeros({shape})"
                continue
            if not any(line.startswith("'#") for line in self.lines):
                self.comment(
                    f"Each column: the derivative along one element of {path}."
                )
            self.line(f"{value} = [{call} for {dot} in {self.basis(path, t)}]")
            aux = aux or f"{value}[0][0][1]"
            for block, (out, u) in zip(blocks, outputs, strict=True):
                step = f"{inside}{out}"
                block[path] = self.stacked(value, step, path, t, u)
        jacobian = self.assembled(outputs, blocks, wrt)
        return f"{jacobian}, {aux}" if transform.has_aux else jacobian

    def stacked(self, value: str, step: str, path: str, t: Type, u: Type) -> str:
        """The block of an output and an input from its columns."""
        items = f"[column{step} for column in {value}]" if step else value
        rank, own = rank_of(u), rank_of(t)
        if rank == 0:
            whole = f"np.stack({items})"
            return whole if own == 1 else f"{whole}.reshape({path}.shape)"
        whole = f"np.stack({items}, axis=-1)"
        if own == 1:
            return whole
        shape = f"{shape_text(f'{value}[0]{step}', u)} + {path}.shape"
        return f"{whole}.reshape({shape})"

    def assembled(
        self,
        outputs: list[tuple[str, Type]],
        blocks: list[dict[str, str]],
        wrt: dict[str, Type],
        root: str = "",
    ) -> str:
        """The structure of the output with that of the inputs at each leaf."""
        found: dict[str, str] = {}
        for (out, _), block in zip(outputs, blocks, strict=True):
            parts = [self.rebuilt(wrt[n], block, n) for n in wrt]
            single = self.transform.single
            whole = parts[0] if single else self.display(Tuple(), parts)
            found[out] = whole
        return self.rebuilt(self.value, found, root)

    def unknown(self) -> str:
        if self.transform.has_aux or not self.transform.single:
            raise needs_examples(self.transform)
        (name,) = self.transform.wrt
        dot, columns = self.names.fresh(f"{name}_dot"), self.names.fresh("columns")
        call = self.pushed({name: dot})
        self.comment(f"Each column: the derivative along one element of {name}.")
        self.line(f"{columns} = [{call} for {dot} in unit_tangents({name})]")
        return f"stack_columns({columns}, {name})"


class Rows(Writer):
    """`jacrev`: a pullback of each element of the result."""

    def parameters(self) -> gast.arguments:
        function = next(f for f in self.module.functions if f.name == self.module.entry)
        return syntax.clone(function.args)

    def forward(self, y: str, saved: str) -> None:
        called = self.parameters_call(self.module.entry)
        self.line(f"{y}, {saved} = {called}")

    def residuals(self, saved: str) -> str:
        """What was saved; anew for each row if the backward sweep writes to it."""
        if not self.module.restores:
            return saved
        return f"{self.parameters_call(self.module.functions[-2].name)}[1]"

    def parameters_call(self, name: str) -> str:
        return f"{name}({', '.join(self.user_arguments())})"

    def known(self) -> str:
        transform, wrt = self.transform, self.transform.wrt
        backward = self.module.functions[-1].name
        y, saved = self.names.fresh("y"), self.names.fresh("saved")
        aux = self.names.fresh("aux") if transform.has_aux else ""
        self.forward(f"({y}, {aux})" if aux else y, saved)
        outputs = leaves_of(self.value, y)
        inputs = {n: leaves_of(self.types[n], n) for n in wrt}
        result: Any = self.module.result
        found: dict[str, str] = {}
        for path, u in outputs:
            base = identifier(path)
            number = is_number(u) or shape_of(u) == ()
            dy = self.names.fresh(syntax.adjoint_name(base))
            kind = "row" if number else "rows"
            rows = self.names.fresh(kind if len(outputs) == 1 else f"{kind}_{base}")
            moved = dy
            if number:
                moved = "1.0" if is_number(u) else f"np.ones_like({path})"
            seed = self.rebuilt(self.value, {path: moved}, y)
            if aux:
                seed = f"({seed}, {self.zero(aux, result.items[1])})"
            call = f"{backward}({self.residuals(saved)}, {seed})"
            if number:
                self.line(f"{rows} = {call}")
            else:
                if not any(line.startswith("'#") for line in self.lines):
                    self.comment(f"Each row: the derivative of one element of {path}.")
                basis = self.basis(path, u)
                self.line(f"{rows} = [{call} for {dy} in {basis}]")
            found[path] = self.blocks(rows, path, u, number, inputs)
        jacobian = self.rebuilt(self.value, found, y)
        return f"{jacobian}, {aux}" if aux else jacobian

    def blocks(
        self,
        rows: str,
        path: str,
        u: Type,
        number: bool,
        inputs: dict[str, list[tuple[str, Type]]],
    ) -> str:
        """What stands for an output: its blocks in the structure of the inputs."""
        wrt = self.transform.wrt
        parts = []
        for i, name in enumerate(wrt):
            block: dict[str, str] = {}
            for leaf, t in inputs[name]:
                step = (f"[{i}]" if len(wrt) > 1 else "") + leaf[len(name) :]
                if number:
                    block[leaf] = f"{rows}{step}"
                    continue
                items = f"[row{step} for row in {rows}]" if step else rows
                empty = 0 in (shape_of(u) or ())
                shape = f"{path}.shape + {shape_text(leaf, t)}"
                whole = f"np.stack({items})"
                if empty:
                    whole = f"np.zeros({shape})"
                elif rank_of(u) != 1:
                    own = f"{path}.shape" if rank_of(t) == 0 else shape
                    whole = f"{whole}.reshape({own})"
                block[leaf] = whole
            parts.append(self.rebuilt(self.types[name], block, name))
        return parts[0] if self.transform.single else self.display(Tuple(), parts)

    def unknown(self) -> str:
        if self.transform.has_aux:
            raise needs_examples(self.transform)
        backward = self.module.functions[-1].name
        y, saved = self.names.fresh("y"), self.names.fresh("saved")
        rows, dy = self.names.fresh("rows"), self.names.fresh("dy")
        self.forward(y, saved)
        self.comment("Each row: the derivative of one element of the result.")
        call = f"{backward}({self.residuals(saved)}, {dy})"
        self.line(f"{rows} = [{call} for {dy} in unit_tangents({y})]")
        return f"stack_rows({rows}, {y})"
