/** The port of a secret manager: it reads one secret by its name. */
import type { ManagerFailure } from './wire.ts'
import { failure, parsedJson } from './wire.ts'

/** The whole name in the manager. Its form was checked at the door. */
export type SecretLocation = {
  name: string
  field?: string | undefined
  version?: string | undefined
}

/** SECRET: never logged. `version`: as the manager calls it, where it tells. */
export type FoundSecret = { ok: true; value: string; version: string | null }

export type SecretManager = {
  /** Reads at each call. The caller remembers. */
  read: (location: SecretLocation, signal: AbortSignal) => Promise<FoundSecret | ManagerFailure>
}

const largestSecret = 65_536

/** Undefined where the bytes are no text. */
export function utf8Text(base64: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    return undefined
  }
}

/** The value itself, or a field of a JSON object. */
export function takeField(
  text: string,
  { field, version }: { field: string | undefined; version: string | null },
): FoundSecret | ManagerFailure {
  if (text.length > largestSecret) return failure('too_large', 'the secret is larger than 64 KiB')
  if (field === undefined) return { ok: true, value: text, version }
  const fields = parsedJson(text)
  if (typeof fields !== 'object' || fields === null || Array.isArray(fields))
    return failure('malformed', `the secret is no JSON object, so that it has no field ${field}`)
  return ownField(fields, { field, version })
}

/** A field by its name; the only one where none is named. */
export function ownField(
  fields: object,
  { field, version }: { field: string | undefined; version: string | null },
): FoundSecret | ManagerFailure {
  const names = Object.keys(fields)
  const [first] = names
  if (field === undefined && names.length !== 1)
    return failure('malformed', `the secret has ${names.length} fields: name one as field`)
  const name = field ?? first ?? ''
  if (!Object.hasOwn(fields, name)) return failure('missing', `the secret has no field ${name}`)
  const value: unknown = Reflect.get(fields, name)
  if (typeof value !== 'string') return failure('malformed', `the field ${name} holds no text`)
  if (value.length > largestSecret) return failure('too_large', 'the secret is larger than 64 KiB')
  return { ok: true, value, version }
}
