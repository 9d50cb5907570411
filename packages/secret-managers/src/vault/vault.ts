/** The key-value engines of HashiCorp Vault and OpenBao, of both versions. */
import type { Clock } from '@steward/base/time.ts'
import { z } from 'zod'
import type { SecretManager } from '../secret-manager.ts'
import { ownField } from '../secret-manager.ts'
import type { ManagerFailure, ManagerWire } from '../wire.ts'
import { failure, failureOfStatus, parsedJson } from '../wire.ts'
import { vaultAsk } from './ask.ts'
import { saidByVault } from './request.ts'
import type { VaultSettings } from './settings.ts'

const Fields = z.record(z.string(), z.unknown())
const First = z.object({ data: Fields })
const Second = z.object({
  data: z.object({
    data: Fields.nullable(),
    metadata: z.object({ version: z.number() }),
  }),
})

export function vaultSecrets(
  settings: VaultSettings,
  deps: { wire: ManagerWire; clock: Clock },
): SecretManager {
  const { mount, kv } = settings
  const ask = vaultAsk(settings, deps)

  /** The manager answers 403 to an invalid token and to one that may not read the name: it is asked which. */
  async function refusal(text: string, signal: AbortSignal): Promise<ManagerFailure> {
    const own = await ask({ path: 'auth/token/lookup-self' }, signal)
    if (!own.ok) return own
    return failure(own.status === 403 ? 'sign_in' : 'denied', saidByVault(text))
  }

  return {
    async read({ name, field, version }, signal) {
      if (kv === 1 && version !== undefined)
        return failure('malformed', 'a key-value engine of version 1 keeps no versions')
      if (version !== undefined && !/^[1-9]\d{0,8}$/.test(version))
        return failure('malformed', 'a version is a number there')
      const path = kv === 2 ? `${mount}/data/${name}` : `${mount}/${name}`
      const answer = await ask({ path, query: version === undefined ? {} : { version } }, signal)
      if (!answer.ok) return answer
      const { status, text } = answer
      if (status === 404) return failure('missing', 'it has no such secret, or no such version')
      if (status === 403) return refusal(text, signal)
      if (status !== 200) return failureOfStatus(status, saidByVault(text))
      const body = parsedJson(text)
      if (kv === 1) {
        const read = First.safeParse(body)
        return read.success
          ? ownField(read.data.data, { field, version: null })
          : failure('malformed', 'it answers without fields')
      }
      const read = Second.safeParse(body)
      if (!read.success) return failure('malformed', 'it answers without fields and version')
      const { data, metadata } = read.data.data
      if (data === null) return failure('missing', 'this version was deleted')
      return ownField(data, { field, version: String(metadata.version) })
    },
  }
}
