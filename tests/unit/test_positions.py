"""The encoding against a scalar loop, and every property the page claims."""

import math

import pytest
import torch

from attnlab.attention import causal_mask, scaled_dot_product_attention
from attnlab.positions import frequencies, reflection, rotation, sinusoidal_encoding

WIDTHS = (2, 6, 14, 32, 512)


def by_the_formula(p: float, d: int, base: float = 10000.0) -> list[float]:
    row = []
    for dimension in range(d):
        i = dimension // 2
        angle = p / base ** (2 * i / d)
        row.append(math.sin(angle) if dimension % 2 == 0 else math.cos(angle))
    return row


def encoding(positions, d, **options):
    return sinusoidal_encoding(positions, d, dtype=torch.float64, **options)


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("base", [10.0, 10000.0])
def test_equals_the_formula_written_as_a_scalar_loop(d, base):
    wanted = torch.tensor([by_the_formula(p, d, base) for p in range(53)], dtype=torch.float64)
    torch.testing.assert_close(encoding(53, d, base=base), wanted, rtol=0, atol=1e-12)


def test_a_number_of_positions_counts_from_zero_and_a_tensor_names_them():
    assert torch.equal(encoding(7, 10), encoding(torch.arange(7), 10))
    chosen = torch.tensor([-3.0, 0.0, 2.5, 1999.0])
    wanted = torch.tensor([by_the_formula(p.item(), 10) for p in chosen], dtype=torch.float64)
    torch.testing.assert_close(encoding(chosen, 10), wanted, rtol=0, atol=1e-12)


def test_positions_may_have_any_leading_shape():
    p = torch.arange(-15, 15).reshape(2, 3, 5)
    assert torch.equal(encoding(p, 14), encoding(p.flatten(), 14).reshape(2, 3, 5, 14))


def test_default_dtype_is_torchs_and_the_angles_are_exact_in_float32_too():
    assert sinusoidal_encoding(3, 4).dtype == torch.get_default_dtype()
    far = torch.tensor([123_457])
    assert sinusoidal_encoding(far, 32, dtype=torch.float32).dtype == torch.float32
    # One rounding of the result, none of the angle: p ω in float32 would be wrong in the third decimal here.
    error = sinusoidal_encoding(far, 32, dtype=torch.float32).double() - encoding(far, 32)
    assert error.abs().max() < 1e-7


@pytest.mark.parametrize("d", WIDTHS)
def test_every_position_has_squared_length_half_the_width(d):
    pe = encoding(torch.arange(-100, 2000), d)
    torch.testing.assert_close(pe.square().sum(-1), torch.full((2100,), d / 2, dtype=torch.float64), rtol=0, atol=1e-11)


@pytest.mark.parametrize("d", WIDTHS)
def test_wavelengths_run_geometrically_from_two_pi(d):
    wavelength = 2 * math.pi / frequencies(d)
    assert frequencies(d).dtype == torch.float64 and frequencies(d).shape == (d // 2,)
    assert wavelength[0].item() == pytest.approx(2 * math.pi)
    assert wavelength[-1].item() == pytest.approx(2 * math.pi * 10000 ** ((d - 2) / d))
    torch.testing.assert_close(
        wavelength[1:] / wavelength[:-1], torch.full((d // 2 - 1,), 10000 ** (2 / d), dtype=torch.float64)
    )


@pytest.mark.parametrize("d", WIDTHS)
def test_product_of_two_encodings_depends_on_their_offset_only(d):
    n = 400
    offsets = torch.arange(n, dtype=torch.float64).unsqueeze(1) - torch.arange(n)
    wanted = sum(torch.cos(offsets * w) for w in frequencies(d).tolist())
    pe = encoding(n, d)
    torch.testing.assert_close(pe @ pe.T, wanted, rtol=0, atol=1e-11)


def test_profile_over_the_offset_is_even_greatest_at_zero_and_not_monotone():
    d = 32
    pe = encoding(torch.arange(-399, 400), d)
    profile = pe @ pe[399] / (d / 2)
    torch.testing.assert_close(profile, profile.flip(0), rtol=0, atol=1e-12)
    ahead = profile[399:]
    assert ahead[0].item() == pytest.approx(1) and (ahead[1:] < 0.96).all()
    assert [round(x, 3) for x in ahead[[1, 2, 4, 5, 6, 47]].tolist()] == [0.957, 0.858, 0.729, 0.736, 0.743, 0.365]


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("k", [-17, -1, 0, 1, 5, 1000])
def test_rotation_moves_every_position_k_steps(d, k):
    p = torch.arange(-50, 2000)
    moved = encoding(p, d) @ rotation(k, d).T
    torch.testing.assert_close(moved, encoding(p + k, d), rtol=0, atol=1e-11)


@pytest.mark.parametrize("d", WIDTHS)
def test_rotations_form_a_group_of_orthogonal_matrices(d):
    identity = torch.eye(d, dtype=torch.float64)
    a, b = rotation(3, d), rotation(-19, d)
    close = {"rtol": 0, "atol": 1e-12}
    torch.testing.assert_close(a @ b, rotation(-16, d), **close)
    torch.testing.assert_close(rotation(0, d), identity, **close)
    torch.testing.assert_close(rotation(-3, d), a.T, **close)
    torch.testing.assert_close(a @ a.T, identity, **close)
    torch.testing.assert_close(torch.linalg.matrix_power(rotation(1, d), 100), rotation(100, d), rtol=0, atol=1e-11)
    assert torch.linalg.det(a).item() == pytest.approx(1)


def test_rotation_turns_each_pair_like_the_hand_of_a_clock():
    # d = 2 has the one frequency 1; a quarter turn takes 12 o'clock (sin, cos) = (0, 1) to 3 o'clock (1, 0).
    quarter = rotation(math.pi / 2, 2)
    wanted = torch.tensor([[0.0, 1.0], [-1.0, 0.0]], dtype=torch.float64)
    torch.testing.assert_close(quarter, wanted, rtol=0, atol=1e-15)


def test_rotation_touches_no_other_pair():
    matrix = rotation(5, 14)
    pair = torch.arange(14) // 2
    assert (matrix[pair.unsqueeze(1) != pair] == 0).all()


@pytest.mark.parametrize("d", WIDTHS)
@pytest.mark.parametrize("length", [1, 2, 11, 997])
def test_reflection_reverses_a_sequence(d, length):
    matrix = reflection(length, d)
    pe = encoding(length, d)
    torch.testing.assert_close(pe @ matrix.T, pe.flip(0), rtol=0, atol=1e-11)
    torch.testing.assert_close(matrix @ matrix, torch.eye(d, dtype=torch.float64), rtol=0, atol=1e-12)
    assert torch.linalg.det(matrix).item() == pytest.approx((-1) ** (d // 2))


def test_reflection_has_the_length_built_in():
    pe = encoding(11, 14)
    assert (pe @ reflection(12, 14).T - pe.flip(0)).abs().max() > 0.1


@pytest.mark.parametrize("beta, weight", [(1, 0.052), (8, 0.538), (32, 0.961), (64, 0.999)])
def test_hand_built_head_looks_at_its_predecessor(beta, weight):
    n, d = 48, 32
    pe = encoding(n, d)
    _, weights = scaled_dot_product_attention(beta * pe @ rotation(-1, d).T, pe, pe)
    assert torch.equal(weights[1:].argmax(-1), torch.arange(n - 1))
    assert weights.diagonal(-1).mean().item() == pytest.approx(weight, abs=0.0006)
    assert weights[0].argmax() == 0  # the first position has no predecessor


def test_rotary_scores_depend_on_the_offset_only():
    d, g = 14, torch.Generator().manual_seed(1)
    q, k = torch.randn(2, d, dtype=torch.float64, generator=g)
    score = {(m, n): (rotation(m, d) @ q) @ (rotation(n, d) @ k) for m, n in [(0, 5), (100, 105), (5, 0)]}
    torch.testing.assert_close(score[0, 5], score[100, 105], rtol=0, atol=1e-11)
    assert (score[0, 5] - score[5, 0]).abs() > 0.1


def test_attention_without_positions_is_equivariant_and_a_causal_mask_breaks_it():
    n, d, g = 11, 6, torch.Generator().manual_seed(2)
    x = torch.randn(n, d, generator=g, dtype=torch.float64)
    order = torch.cat((torch.randperm(n - 1, generator=g), torch.tensor([n - 1])))  # the last one stays

    def attend(x, **options):
        return scaled_dot_product_attention(x, x, x, **options)[0]

    torch.testing.assert_close(attend(x[order]), attend(x)[order], rtol=0, atol=1e-12)
    assert (attend(x[order]) - attend(x)).abs().max() > 0.1

    allowed = causal_mask(n)
    causal, shuffled = attend(x, allowed=allowed), attend(x[order], allowed=allowed)
    assert (shuffled - causal[order]).abs().max() > 0.1
    torch.testing.assert_close(shuffled[-1], causal[-1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("make", [frequencies, lambda d: sinusoidal_encoding(5, d), lambda d: rotation(1, d)])
@pytest.mark.parametrize("d", [-2, 0, 1, 7])
def test_width_must_be_even(make, d):
    with pytest.raises(ValueError, match=f"d must be even and at least 2.*got {d}"):
        make(d)


def test_other_arguments_that_make_no_sense():
    with pytest.raises(ValueError, match="base must be above 1, got 1"):
        frequencies(4, base=1)
    with pytest.raises(ValueError, match="at least 1 position, got 0"):
        sinusoidal_encoding(0, 4)
    with pytest.raises(ValueError, match="length must be at least 1, got 0"):
        reflection(0, 4)
