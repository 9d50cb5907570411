/** Keys of an Azure Key Vault: RSA keys, which wrap by RSA-OAEP-256. */
import { z } from 'zod'
import type { KeyService } from '../key-service.ts'
import { failure, parsedJson } from '../wire.ts'
import type { AzureDeps } from './request.ts'
import { azureRequests } from './request.ts'

const Key = z.object({ key: z.object({ kid: z.string() }) })
const base64url = z.string().regex(/^[\w-]+$/)
const Result = z.object({ value: base64url })
const alg = 'RSA-OAEP-256'

/** A wrapped text is `<version of the key>.<base64url>`. */
export function azureKey(
  { vault_url: vaultUrl, key }: { vault_url: string; key: string },
  deps: AzureDeps,
): KeyService {
  const send = azureRequests(vaultUrl, deps)

  async function run(path: string, value: string, signal: AbortSignal) {
    const answer = await send(path, { alg, value }, signal)
    if (!answer.ok) return answer
    const read = Result.safeParse(parsedJson(answer.text))
    return read.success
      ? { ok: true as const, value: read.data.value }
      : failure('malformed', 'it answers without a value')
  }

  return {
    async wrap(secret, signal) {
      const found = await send(`keys/${key}`, undefined, signal)
      if (!found.ok) return found
      const read = Key.safeParse(parsedJson(found.text))
      const version = read.success ? read.data.key.kid.split('/').at(-1) : undefined
      if (!version) return failure('malformed', 'it answers without a version of the key')
      const path = `keys/${key}/${version}/wrapkey`
      const wrapped = await run(path, secret.toString('base64url'), signal)
      return wrapped.ok ? { ok: true, wrapped: `${version}.${wrapped.value}` } : wrapped
    },
    async unwrap(wrapped, signal) {
      const [, version, value] = /^([0-9a-f]{1,64})\.([\w-]+)$/.exec(wrapped) ?? []
      if (!version || !value)
        return failure('malformed', 'the wrapped text is not one of this kind of key')
      const answer = await run(`keys/${key}/${version}/unwrapkey`, value, signal)
      return answer.ok ? { ok: true, secret: Buffer.from(answer.value, 'base64url') } : answer
    },
  }
}
