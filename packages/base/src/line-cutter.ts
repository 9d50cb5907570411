/**
 * Cuts a text that comes in pieces into lines. Each character is read once: a line that is searched again with each
 * piece costs the square of its length.
 */
export function lineCutter() {
  let begun: string[] = []
  let length = 0
  return {
    /** The lines that end in this piece. */
    read(piece: string): string[] {
      const [end = '', ...lines] = piece.split('\n')
      begun.push(end)
      length += end.length
      const last = lines.pop()
      if (last === undefined) return []
      const whole = [begun.join(''), ...lines]
      begun = [last]
      length = last.length
      return whole
    },
    /** Characters of the line that has not ended. */
    waiting: () => length,
    rest: () => begun.join(''),
  }
}
