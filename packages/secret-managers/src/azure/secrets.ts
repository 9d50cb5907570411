/** Secrets of an Azure Key Vault. */
import { z } from 'zod'
import type { SecretManager } from '../secret-manager.ts'
import { takeField } from '../secret-manager.ts'
import { failure, parsedJson } from '../wire.ts'
import type { AzureDeps } from './request.ts'
import { azureRequests } from './request.ts'

const Answer = z.object({ value: z.string(), id: z.string() })

export function azureSecrets(
  { vault_url: vaultUrl }: { vault_url: string },
  deps: AzureDeps,
): SecretManager {
  const send = azureRequests(vaultUrl, deps)
  return {
    async read({ name, field, version }, signal) {
      if (!/^[0-9A-Za-z-]{1,127}$/.test(name))
        return failure('malformed', 'a name there has letters, digits and - alone')
      if (version !== undefined && !/^[0-9a-f]{32}$/.test(version))
        return failure('malformed', 'a version has 32 hexadecimal digits there')
      const path = `secrets/${name}${version === undefined ? '' : `/${version}`}`
      const answer = await send(path, undefined, signal)
      if (!answer.ok) return answer
      const read = Answer.safeParse(parsedJson(answer.text))
      if (!read.success) return failure('malformed', 'it answers without a secret')
      const { value, id } = read.data
      return takeField(value, { field, version: id.split('/').at(-1) ?? null })
    },
  }
}
