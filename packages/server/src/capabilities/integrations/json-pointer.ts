/** JSON pointers, RFC 6901. */

/** Empty, or parts that each begin with a slash; `~0` is a tilde and `~1` a slash. */
const pointerForm = /^(?:\/(?:[^~/]|~[01])*)*$/

export const isJsonPointer = (text: string): boolean => pointerForm.test(text)

/** Undefined where nothing stands. Reads own properties only: `__proto__` and `length` are no parts of a payload. */
export function valueAt(document: unknown, pointer: string): unknown {
  let value = document
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value) && !/^(?:0|[1-9][0-9]*)$/.test(key)) return undefined
    const found = Object.getOwnPropertyDescriptor(value, key)
    if (!found) return undefined
    value = found.value
  }
  return value
}
