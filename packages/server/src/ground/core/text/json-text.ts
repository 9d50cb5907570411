/** The JSON of columns is written and read only here, so that a column's type names the value of its text. */

declare const holds: unique symbol

/** The JSON text of a `T`. `toJson` creates it, and rows of the database have it. */
export type Json<T> = string & { readonly [holds]: T }

export const toJson = <T>(value: T): Json<T> => JSON.stringify(value) as Json<T>

export function fromJson<T>(text: Json<T>): T
export function fromJson<T>(text: Json<T> | null): T | null
export function fromJson<T>(text: Json<T> | null): T | null {
  // oxlint-disable-next-line steward/no-parsed-cast -- the type of the text says what toJson() was given
  return text === null ? null : (JSON.parse(text) as T)
}
