/** The secret managers and the key service that the settings name. Their code is loaded at the first use. */
import { runOnce } from '@steward/base/shared-runs.ts'
import type { Clock } from '@steward/base/time.ts'
import type { KeyService } from '@steward/secret-managers/key-service.ts'
import type { SecretManager } from '@steward/secret-managers/secret-manager.ts'
import type { KeyServiceSettings } from '@steward/secret-managers/settings.ts'
import { prefixFor } from '@steward/secret-managers/settings.ts'
import type { ConfiguredManager } from '../engine/egress/company-secrets/company-secrets.ts'
import type { Config } from '../ground/config/config.ts'
import { operatorFetch } from '../ground/core/security/dial.ts'
import { identityFetch } from '../ground/core/security/identity-dispatcher.ts'

const fetches = { fetch: operatorFetch, identityFetch }

export function configuredManagers(
  { secretManagers = {} }: Pick<Config, 'secretManagers'>,
  clock: Clock,
): Map<string, ConfiguredManager> {
  return new Map(
    Object.entries(secretManagers).map(([name, settings]) => {
      const opened = runOnce(async () => {
        const { openSecretManager } = await import('@steward/secret-managers/open.ts')
        return openSecretManager(settings, { ...fetches, clock })
      })
      const read: SecretManager['read'] = async (...asked) => (await opened()).read(...asked)
      return [name, { prefixOf: (tenant) => prefixFor(settings, tenant), read }]
    }),
  )
}

export async function openConfiguredKeyService(
  settings: KeyServiceSettings,
  clock: Clock,
): Promise<KeyService> {
  const { openKeyService } = await import('@steward/secret-managers/open.ts')
  return openKeyService(settings, { ...fetches, clock })
}
