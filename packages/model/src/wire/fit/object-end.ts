/** Finds where the first object or list of a growing JSON text ends, reading each character once. */
export type ObjectEnd = ReturnType<typeof objectEnd>

export function objectEnd() {
  let depth = 0
  let isText = false
  let isEscaped = false
  let isReached = false
  return {
    /** The length of the piece up to the end, when the end lies in this piece. */
    read(piece: string): number | undefined {
      if (isReached) return undefined
      for (let at = 0; at < piece.length; at++) {
        const code = piece.charCodeAt(at)
        if (isEscaped) isEscaped = false
        else if (code === 34) {
          isText = !isText
          // JSON that is quoted as a text of JSON.
          if (!isText && depth === 0) isReached = true
        } else if (isText) isEscaped = code === 92
        else if (code === 123 || code === 91) depth++
        else if (code === 125 || code === 93) isReached = --depth <= 0
        if (isReached) return at + 1
      }
      return undefined
    },
    isReached: () => isReached,
  }
}
