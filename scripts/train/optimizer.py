"""Muon for the matrices, Adam for embeddings and norms.

@see Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024)
"""
from typing import Dict

import torch

from model import RecallModel

ADAM_RATE, MUON_RATE = 3e-3, 6e-3
BETA1, BETA2, EPSILON = 0.9, 0.97, 1e-8
MOMENTUM, WEIGHT_DECAY = 0.95, 0.05
CLIP = 1.0


def orthogonalised(update: torch.Tensor) -> torch.Tensor:
    """Brings all singular values of `update` near 1, by five quintic Newton-Schulz iterations."""
    wide = update.shape[0] <= update.shape[1]
    x = (update if wide else update.t()) / (update.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.t()
        x = torch.addmm(x, torch.addmm(gram, gram, gram, beta=-4.7750, alpha=2.0315), x, beta=3.4445)
    return x if wide else x.t()


class Optimizer:
    """Steps a model in place and clears its gradient."""

    def __init__(self, model: RecallModel):
        self._model = model
        self.steps = 0
        # Adam's running mean, or Muon's momentum; Adam's running square (unused for matrices).
        self._first, self._second = torch.zeros_like(model.weights), torch.zeros_like(model.weights)

    @torch.no_grad()
    def step(self, rate: float) -> float:
        """`rate` in 0..1 scales both learning rates. Returns the gradient's norm. Only Adam's part is clipped: Muon's
        steps have a fixed size."""
        self.steps += 1
        norm = float(self._model.gradient.norm())
        at = 0
        for name, tensor in self._model.tensors.items():
            place = slice(at, at + tensor.numel())
            at = place.stop
            if tensor.dim() == 2 and name != "embedding":
                self._muon(name, tensor, self._first[place].view_as(tensor), rate * MUON_RATE)
            else:
                gradient = self._model.gradient[place] * min(1.0, CLIP / (norm + 1e-6))
                self._adam(self._model.weights[place], gradient, self._first[place], self._second[place], rate * ADAM_RATE)
        self._model.gradient.zero_()
        return norm

    def state(self) -> Dict:
        return {"steps": self.steps, "first": self._first, "second": self._second}

    def restore(self, state: Dict) -> None:
        self.steps = state["steps"]
        self._first.copy_(state["first"])
        self._second.copy_(state["second"])

    def _adam(self, weights: torch.Tensor, gradient: torch.Tensor, mean: torch.Tensor, square: torch.Tensor, rate: float) -> None:
        mean.lerp_(gradient, 1 - BETA1)
        square.mul_(BETA2).addcmul_(gradient, gradient, value=1 - BETA2)
        deviation = (square / (1 - BETA2**self.steps)).sqrt() + EPSILON
        weights.addcdiv_(mean, deviation, value=-rate / (1 - BETA1**self.steps))

    def _muon(self, name: str, weights: torch.Tensor, momentum: torch.Tensor, rate: float) -> None:
        momentum.mul_(MOMENTUM).add_(weights.grad)
        update = weights.grad + MOMENTUM * momentum
        weights.mul_(1 - rate * WEIGHT_DECAY)
        parts = self._model.shape.parts(name)
        for matrix, direction in zip(weights.split(parts), update.split(parts)):
            matrix.add_(orthogonalised(direction), alpha=-rate * 0.2 * max(matrix.shape) ** 0.5)
