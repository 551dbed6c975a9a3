"""`rbt plot` of maps: values, scales, outlines, and labels that are whole."""

import numpy as np
import pytest

from rbt_ros.errors import ScenarioError
from rbt_ros.studies import maps
from rbt_ros.studies.map_figures import heat_figure, read_map, sphere_figure


@pytest.fixture(scope="module")
def turns(tmp_path_factory):
    """A small map: (its file, its values)."""
    grid = tuple(np.radians([-60, -20, 20, 60]).tolist())
    spec, folder = maps.Spec("l_shape", {}, "kinematic", grid, grid[:3]), tmp_path_factory.mktemp("map")
    values = maps.make_map(spec, folder / "blocks")
    maps.write_result(spec, values, folder / "map.npz")
    return folder / "map.npz", np.load(folder / "map.npz")


def test_heat_maps_have_the_values_of_the_map(turns):
    file, values = turns
    figure = heat_figure(read_map(file), 170)
    angle, efficiency = figure.axes[:2]
    np.testing.assert_array_equal(angle.collections[0].get_array(), np.degrees(values["angle"]).T)
    np.testing.assert_array_equal(efficiency.collections[0].get_array(), values["efficiency"].T)
    assert [text for ax in figure.axes for text in (ax.get_xlabel(), ax.get_ylabel()) if text] == [
        "psi1 [°]",
        "psi2 [°]",
    ] * 2 + ["turn [°]", "turn / way of the hinges [-]"]


def test_axes_of_turns_lie_on_the_sphere_each_on_one_side(turns):
    file, values = turns
    figure = sphere_figure(read_map(file), 170)
    shown = [np.array(ax.collections[1]._offsets3d).T for ax in figure.axes[:2]]
    points = np.concatenate(shown)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), 1, rtol=1e-12)
    order = np.lexsort(points.T), np.lexsort(values["axis"].reshape(-1, 3).T)
    np.testing.assert_array_equal(points[order[0]], values["axis"].reshape(-1, 3)[order[1]])


def test_neither_view_of_the_sphere_covers_letters_of_the_other(turns):
    left, right = sphere_figure(read_map(turns[0]), 120).axes[:2]
    assert (left.get_zlabel(), right.get_zlabel()) == ("z", "z")
    assert not left.patch.get_visible() and not right.patch.get_visible()


@pytest.mark.parametrize("mode", ["planar", "collision"])
def test_other_maps_are_drawn_and_have_no_axes(mode, tmp_path):
    grid = tuple(np.radians(np.linspace(-170, 170, 12)).tolist())
    spec = maps.Spec("rods" if mode == "planar" else "l_shape", {}, mode, grid, grid)
    maps.write_result(spec, maps.make_map(spec, tmp_path / "blocks"), tmp_path / "m.npz")
    made = read_map(tmp_path / "m.npz")
    name, factor = ("turn", np.degrees(1.0)) if mode == "planar" else ("distance", 1.0)
    figure = heat_figure(made, 85)
    shades = figure.axes[0].collections
    np.testing.assert_array_equal(shades[0].get_array(), (made.values[name] * factor).T)
    assert (
        len(shades) > 1
        and {"planar": "hatched: rods a and c touch", "collision": "line: contact"}[mode] in figure.get_suptitle()
    )
    # touching rods turn most, panels overlap by more than they are apart: that shall not take the others' shades
    shown, hit = made.values[name] * factor, maps.rods_touch(spec) if mode == "planar" else np.zeros(1, bool)
    most = np.abs(shown[~hit]).max() if mode == "planar" else shown.max()
    assert shades[0].get_clim() == (-most, most) and np.abs(shown).max() > 2 * most
    assert shades[0].colorbar.extend == {"planar": "both", "collision": "min"}[mode]
    with pytest.raises(ScenarioError, match="which has no axes"):
        sphere_figure(made, 85)


def test_in_a_column_heat_maps_stand_under_each_other_and_their_labels_are_whole(turns):
    for width in (85, 170):
        figure = heat_figure(read_map(turns[0]), width)
        figure.canvas.draw()
        for bar in figure.axes[2:]:
            box = bar.yaxis.label.get_window_extent()
            assert box.y0 >= 0 and box.y1 <= figure.bbox.y1 and box.x1 <= figure.bbox.x1 + 1


def test_a_map_of_one_row_is_drawn_without_outlines(tmp_path):
    for mode, robot in (("planar", "rods"), ("collision", "l_shape")):
        spec = maps.Spec(robot, {}, mode, (3.0,), tuple(np.linspace(-3.1, 3.1, 9).tolist()))
        values = maps.make_map(spec, tmp_path / mode)
        maps.write_result(spec, values, tmp_path / f"{mode}.npz")
        maps.draw(spec, values, tmp_path / f"{mode}.png")
        assert len(heat_figure(read_map(tmp_path / f"{mode}.npz"), 85).axes[0].collections) == 1
