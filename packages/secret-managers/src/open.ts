/** Makes secret managers and key services of their settings. */
import { awsIdentity } from '@steward/cloud/aws.ts'
import { azureIdentity } from '@steward/cloud/azure.ts'
import { googleIdentity } from '@steward/cloud/google.ts'
import type { Clock } from '@steward/base/time.ts'
import { awsKey } from './aws/kms.ts'
import { awsSecrets } from './aws/secrets.ts'
import { azureKey } from './azure/key.ts'
import { azureSecrets } from './azure/secrets.ts'
import { fetchWire } from './fetch-wire.ts'
import { googleKey } from './google/kms.ts'
import { googleSecrets } from './google/secrets.ts'
import type { KeyService } from './key-service.ts'
import type { SecretManager } from './secret-manager.ts'
import type { KeyServiceSettings, SecretManagerSettings } from './settings.ts'
import { vaultTransitKey } from './vault/transit.ts'
import { vaultSecrets } from './vault/vault.ts'

export type OpenDeps = {
  /** Requests to the service itself. */
  fetch: typeof globalThis.fetch
  /** Requests by which the server learns who it is at a cloud. */
  identityFetch: typeof globalThis.fetch
  clock: Clock
}

const azureScope = 'https://vault.azure.net/.default'

export function openSecretManager(
  settings: SecretManagerSettings,
  { fetch, identityFetch, clock }: OpenDeps,
): SecretManager {
  const wire = fetchWire(fetch)
  const asks = { fetch: identityFetch, now: () => clock.now() }
  switch (settings.type) {
    case 'vault':
      return vaultSecrets(settings, { wire, clock })
    case 'aws': {
      const identity = awsIdentity(settings.credentials, { ...asks, region: settings.region })
      return awsSecrets(settings, { wire, identity })
    }
    case 'google':
      return googleSecrets(settings, { wire, identity: googleIdentity(settings.credentials, asks) })
    case 'azure': {
      const identity = azureIdentity(settings.credentials, { ...asks, scope: azureScope })
      return azureSecrets(settings, { wire, identity })
    }
  }
}

export function openKeyService(
  settings: KeyServiceSettings,
  { fetch, identityFetch, clock }: OpenDeps,
): KeyService {
  const wire = fetchWire(fetch)
  const asks = { fetch: identityFetch, now: () => clock.now() }
  switch (settings.type) {
    case 'vault-transit':
      return vaultTransitKey(settings, { wire, clock })
    case 'aws-kms': {
      const identity = awsIdentity(settings.credentials, { ...asks, region: settings.region })
      return awsKey(settings, { wire, identity })
    }
    case 'google-kms':
      return googleKey(settings, { wire, identity: googleIdentity(settings.credentials, asks) })
    case 'azure-key-vault': {
      const identity = azureIdentity(settings.credentials, { ...asks, scope: azureScope })
      return azureKey(settings, { wire, identity })
    }
  }
}
