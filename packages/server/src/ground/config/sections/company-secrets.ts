/** Settings of secret managers and key services of the company. */
import type { SettingKind } from '@steward/base/settings/setting.ts'
import { settingsSection, setting } from '@steward/base/settings/setting.ts'
import type {
  KeyServiceSettings,
  SecretManagerSettings,
} from '@steward/secret-managers/settings.ts'
import {
  KeyServiceSchema,
  SecretManagersSchema,
  parseKeyService,
  parseSecretManagers,
} from '@steward/secret-managers/settings.ts'
import { schemaInFile } from '../schema-in-file.ts'

const managers: SettingKind<Record<string, SecretManagerSettings>> = {
  form: 'a JSON object',
  parse: parseSecretManagers,
  inFile: { type: 'json', schema: () => schemaInFile(SecretManagersSchema) },
}

const keyService: SettingKind<KeyServiceSettings> = {
  form: 'a JSON object',
  parse: parseKeyService,
  inFile: { type: 'json', schema: () => schemaInFile(KeyServiceSchema) },
}

export const companySecretSettings = settingsSection('Secrets of the company', {
  secretManagers: setting('SECRET_MANAGERS', managers, {
    secret: true,
    defaultAbout: 'none',
    about:
      'secret managers by name, and which workspaces read in each below which path, as JSON: HashiCorp Vault, OpenBao, AWS Secrets Manager, Google Secret Manager, Azure Key Vault',
    more: 'See [Connect your company: secrets](company-secrets.md)',
  }),
  rootSecretKeyService: setting('PLATFORM_ROOT_SECRET_KEY_SERVICE', keyService, {
    secret: true,
    defaultAbout: '`PLATFORM_ROOT_SECRET` holds the root secret itself',
    about:
      'key service that unwraps the root secret at each start, as JSON: AWS KMS, Google Cloud KMS, Azure Key Vault, or transit of HashiCorp Vault and OpenBao',
    more: 'See [The root secret by a key service](company-secrets.md#the-root-secret-by-a-key-service)',
  }),
})
