/** How large a JSON body may be. A route says which limits are its own, where its bodies carry content. */
export type BodyLimits = {
  bytes: number
  /** Objects, lists, and what they hold: parsed, each of them costs far more than its text. */
  values: number
  /** Escapes in its texts: each is read one by one, and written so again wherever the text is written. */
  escapes?: number
}

/** Bytes of a body that stand outside of its texts: names are texts too, and what is left is small. */
export const mostAround = 2 * 1024 * 1024

const mebibyte = 1024 * 1024

/** Where a route says nothing. */
export const plainBody: BodyLimits = { bytes: mebibyte, values: 10_000 }
/** For records, which are kept up to 1 MiB each: written with spaces and escapes they are longer. */
export const recordBody: BodyLimits = { bytes: 4 * mebibyte, values: 20_000 }
/** For messages with images and documents, and for files as JSON. [limits/json-body] */
export const contentBody: BodyLimits = {
  bytes: 32 * mebibyte,
  values: 12_000,
  escapes: 4 * mebibyte,
}
/** For what is passed on to a model: long histories. */
export const historyBody: BodyLimits = { ...contentBody, values: 50_000, escapes: 8 * mebibyte }
