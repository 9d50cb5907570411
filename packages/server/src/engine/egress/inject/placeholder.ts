/**
 * Placeholders stand for `environment_variable` credentials inside a sandbox. A placeholder reveals nothing, stays the
 * same for the life of a session, and is exchanged for the secret when a request leaves.
 */
import { createHmac } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Transform } from 'node:stream'
import type { HeaderPairs } from '@steward/gate/outbound.ts'
import type { MaskFilter } from '@steward/mask/mask.ts'
import { onTheWire } from './headers.ts'

const prefix = 'stw_placeholder_'
const digits = 40
const whole = prefix.length + digits
const form = new RegExp(`${prefix}[0-9a-f]{${digits}}`, 'g')

export const derivePlaceholder = (
  key: Buffer,
  { tenant, session, credential }: { tenant: string; session: string; credential: string },
): string =>
  prefix +
  createHmac('sha256', key)
    .update(['placeholder', tenant, session, credential].join('\0'))
    .digest('hex')
    .slice(0, digits)

/** Secrets by placeholder. Unknown placeholders stay unchanged. */
export type SecretLookup = { get(placeholder: string): string | undefined }

function exchanged(text: string, secrets: SecretLookup): string {
  if (!text.includes(prefix)) return text
  return text.replace(form, (found) => {
    const secret = secrets.get(found)
    return secret === undefined ? found : onTheWire(secret)
  })
}

/** The `user:password` of Basic credentials; undefined for any other value. */
function withinBasic(value: string): string | undefined {
  const basic = /^basic +([\w+/=-]+)$/i.exec(value.trim())?.[1]
  return basic && Buffer.from(basic, 'base64').toString('latin1')
}

/**
 * Exchanges placeholders in header values, also within the Base64 of Basic credentials. Header names stay unchanged.
 */
export function exchangeInHeaders(headers: HeaderPairs, secrets: SecretLookup): HeaderPairs {
  return headers.map(([name, value]) => {
    const before = withinBasic(value)
    if (before === undefined) return [name, exchanged(value, secrets)]
    const after = exchanged(before, secrets)
    return after === before
      ? [name, value]
      : [name, `Basic ${Buffer.from(after, 'latin1').toString('base64')}`]
  })
}

/** True when a placeholder stands in a header or in the URL. */
export const carriesPlaceholder = ({ headers, url }: { headers: HeaderPairs; url: URL }): boolean =>
  url.href.includes(prefix) ||
  headers.some(([, value]) => (withinBasic(value) ?? value).includes(prefix))

const marker = Buffer.from(prefix, 'latin1')

/**
 * Exchanges placeholders in a streaming body. Holds back at most the length of one placeholder. The length of the body
 * may change.
 */
export function exchangeInBody(secrets: SecretLookup): MaskFilter {
  let held: Buffer = Buffer.alloc(0)
  return {
    write(chunk) {
      const bytes = held.length > 0 ? Buffer.concat([held, chunk]) : chunk
      const parts: Buffer[] = []
      let from = 0
      let at = bytes.indexOf(marker)
      while (at !== -1 && at + whole <= bytes.length) {
        const secret = secrets.get(bytes.toString('latin1', at, at + whole))
        if (secret !== undefined) {
          parts.push(bytes.subarray(from, at), Buffer.from(secret, 'utf8'))
          from = at + whole
        }
        at = bytes.indexOf(marker, at + (secret === undefined ? 1 : whole))
      }
      const cut = at === -1 ? Math.max(from, bytes.length - openEnd(bytes)) : at
      parts.push(bytes.subarray(from, cut))
      held = bytes.subarray(cut)
      return parts.length === 1 ? (parts[0] ?? held) : Buffer.concat(parts)
    },
    end() {
      const rest = held
      held = Buffer.alloc(0)
      return rest
    },
  }
}

/** Calls back for each placeholder in an outgoing body. The bytes and their timing stay unchanged. */
export function watchBody<Body extends Readable | Buffer>(
  body: Body,
  found: () => void,
): Body | Readable {
  const seeking = exchangeInBody({
    get() {
      found()
      return undefined
    },
  })
  if (Buffer.isBuffer(body)) {
    seeking.write(body)
    return body
  }
  const watched = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      seeking.write(chunk)
      done(null, chunk)
    },
  })
  body.once('error', (error) => watched.destroy(error)).pipe(watched)
  // A later reader finds the stream destroyed.
  return watched.on('error', () => {}).once('close', () => body.destroy())
}

/** Number of bytes at the end that may begin a placeholder. */
function openEnd(bytes: Buffer): number {
  for (let length = Math.min(marker.length - 1, bytes.length); length > 0; length--) {
    if (bytes.compare(marker, 0, length, bytes.length - length) === 0) return length
  }
  return 0
}
