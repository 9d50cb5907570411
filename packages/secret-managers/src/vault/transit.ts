/** Keys of the transit engine of HashiCorp Vault and OpenBao. */
import type { Clock } from '@steward/base/time.ts'
import { z } from 'zod'
import type { KeyService } from '../key-service.ts'
import { wrappedFor } from '../key-service.ts'
import type { ManagerWire } from '../wire.ts'
import { failure, failureOfStatus, parsedJson } from '../wire.ts'
import { vaultAsk } from './ask.ts'
import { saidByVault } from './request.ts'
import type { VaultTransitSettings } from './settings.ts'

const Encrypted = z.object({ data: z.object({ ciphertext: z.string().min(1) }) })
const Decrypted = z.object({ data: z.object({ plaintext: z.base64() }) })

export function vaultTransitKey(
  settings: VaultTransitSettings,
  deps: { wire: ManagerWire; clock: Clock },
): KeyService {
  const { mount, key } = settings
  const ask = vaultAsk(settings, deps)
  const bound = { associated_data: Buffer.from(wrappedFor).toString('base64') }

  async function run(verb: 'encrypt' | 'decrypt', body: object, signal: AbortSignal) {
    const path = `${mount}/${verb}/${key}`
    const answer = await ask({ path, body: { ...bound, ...body } }, signal)
    if (!answer.ok) return answer
    if (answer.status !== 200) return failureOfStatus(answer.status, saidByVault(answer.text))
    return { ok: true as const, body: parsedJson(answer.text) }
  }

  return {
    async wrap(secret, signal) {
      const answer = await run('encrypt', { plaintext: secret.toString('base64') }, signal)
      if (!answer.ok) return answer
      const read = Encrypted.safeParse(answer.body)
      return read.success
        ? { ok: true, wrapped: read.data.data.ciphertext }
        : failure('malformed', 'it answers without a ciphertext')
    },
    async unwrap(wrapped, signal) {
      const answer = await run('decrypt', { ciphertext: wrapped }, signal)
      if (!answer.ok) return answer
      const read = Decrypted.safeParse(answer.body)
      return read.success
        ? { ok: true, secret: Buffer.from(read.data.data.plaintext, 'base64') }
        : failure('malformed', 'it answers without a plaintext')
    },
  }
}
