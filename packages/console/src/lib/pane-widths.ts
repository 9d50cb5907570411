/** Widths of panes that somebody has set, in this browser. */
const placeOf = (name: string) => `steward.width.${name}`

export function readWidth(name: string): number | undefined {
  try {
    const px = Number(localStorage.getItem(placeOf(name)) ?? Number.NaN)
    return Number.isFinite(px) ? px : undefined
  } catch {
    return undefined
  }
}

export function keepWidth(name: string, px: number | undefined): void {
  try {
    if (px === undefined) localStorage.removeItem(placeOf(name))
    else localStorage.setItem(placeOf(name), String(px))
  } catch {
    // It holds until the page is left.
  }
}
