/** Limits of a JSON body. A route whose bodies carry content names its own. */
export type BodyLimits = {
  bytes: number
  /** Most objects, lists and members: parsed, each costs far more memory than its text. */
  values: number
  /** Most escapes in texts: they are slow to read, and are written again with the text. */
  escapes?: number
}

/** Most bytes of a body outside of its texts. Names count as texts, so little is left. */
export const mostAround = 2 * 1024 * 1024

const mebibyte = 1024 * 1024

/** For a route that names no limits. */
export const plainBody: BodyLimits = { bytes: mebibyte, values: 10_000 }
/** For records, which are stored up to 1 MiB each and are longer with spaces and escapes. */
export const recordBody: BodyLimits = { bytes: 4 * mebibyte, values: 20_000 }
/** For messages with images and documents, and for files as JSON. [limits/json-body] */
export const contentBody: BodyLimits = {
  bytes: 32 * mebibyte,
  values: 12_000,
  escapes: 4 * mebibyte,
}
/** For long histories that are passed on to a model. */
export const historyBody: BodyLimits = { ...contentBody, values: 50_000, escapes: 8 * mebibyte }
