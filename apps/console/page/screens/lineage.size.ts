// How large a box of a lineage is drawn, CSS pixels: the layout leaves room for it.
export const WIDTH = 220;
export const HEIGHT = 112;
