/** Keys of AWS KMS. */
import { z } from 'zod'
import type { KeyService } from '../key-service.ts'
import { wrappedFor } from '../key-service.ts'
import { failure, parsedJson } from '../wire.ts'
import type { AwsDeps } from './request.ts'
import { awsRequests } from './request.ts'

const Encrypted = z.object({ CiphertextBlob: z.base64().min(1) })
const Decrypted = z.object({ Plaintext: z.base64().min(1) })

export function awsKey(
  { region, endpoint, key }: { region: string; endpoint?: string | undefined; key: string },
  deps: AwsDeps,
): KeyService {
  const send = awsRequests({ service: 'kms', prefix: 'TrentService', region, endpoint }, deps)
  const bound = { KeyId: key, EncryptionContext: { purpose: wrappedFor } }
  return {
    async wrap(secret, signal) {
      const Plaintext = secret.toString('base64')
      const answer = await send('Encrypt', { ...bound, Plaintext }, signal)
      if (!answer.ok) return answer
      const read = Encrypted.safeParse(parsedJson(answer.text))
      return read.success
        ? { ok: true, wrapped: read.data.CiphertextBlob }
        : failure('malformed', 'it answers without a ciphertext')
    },
    async unwrap(wrapped, signal) {
      const answer = await send('Decrypt', { ...bound, CiphertextBlob: wrapped }, signal)
      if (!answer.ok) return answer
      const read = Decrypted.safeParse(parsedJson(answer.text))
      return read.success
        ? { ok: true, secret: Buffer.from(read.data.Plaintext, 'base64') }
        : failure('malformed', 'it answers without a plaintext')
    },
  }
}
