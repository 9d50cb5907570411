/** Keys of Google Cloud KMS. */
import { z } from 'zod'
import type { KeyService } from '../key-service.ts'
import { wrappedFor } from '../key-service.ts'
import { failure, parsedJson } from '../wire.ts'
import type { GoogleRequestDeps } from './request.ts'
import { googleRequests } from './request.ts'

const Encrypted = z.object({ ciphertext: z.base64().min(1) })
const Decrypted = z.object({ plaintext: z.base64().min(1) })

/** `key`: `projects/…/locations/…/keyRings/…/cryptoKeys/…` */
export function googleKey(
  {
    key,
    endpoint = 'https://cloudkms.googleapis.com',
  }: { key: string; endpoint?: string | undefined },
  deps: GoogleRequestDeps,
): KeyService {
  const send = googleRequests(endpoint, deps)
  const bound = { additionalAuthenticatedData: Buffer.from(wrappedFor).toString('base64') }
  return {
    async wrap(secret, signal) {
      const body = { ...bound, plaintext: secret.toString('base64') }
      const answer = await send(`${key}:encrypt`, body, signal)
      if (!answer.ok) return answer
      const read = Encrypted.safeParse(parsedJson(answer.text))
      return read.success
        ? { ok: true, wrapped: read.data.ciphertext }
        : failure('malformed', 'it answers without a ciphertext')
    },
    async unwrap(wrapped, signal) {
      const answer = await send(`${key}:decrypt`, { ...bound, ciphertext: wrapped }, signal)
      if (!answer.ok) return answer
      const read = Decrypted.safeParse(parsedJson(answer.text))
      return read.success
        ? { ok: true, secret: Buffer.from(read.data.plaintext, 'base64') }
        : failure('malformed', 'it answers without a plaintext')
    },
  }
}
