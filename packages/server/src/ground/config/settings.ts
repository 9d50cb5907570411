/** Every setting of the server. A setting stands in one place: its declaration in `sections/`. */
import { companySecretSettings } from './sections/company-secrets.ts'
import { integrationSettings } from './sections/integrations.ts'
import { outboundSettings } from './sections/outbound.ts'
import { ruleSettings } from './sections/rules.ts'
import { servingSettings } from './sections/serving.ts'
import { signInSettings } from './sections/sign-in.ts'
import { sessionSettings } from './sections/sessions.ts'

export const serverProgram = {
  what: 'server',
  settings: {
    ...servingSettings,
    ...signInSettings,
    ...outboundSettings,
    ...companySecretSettings,
    ...integrationSettings,
    ...sessionSettings,
    ...ruleSettings,
  },
  /** Prefixes of this service and of the specification. */
  prefixes: [
    ...[
      'STEWARD_',
      'PLATFORM_',
      'EGRESS_',
      'SANDBOX_',
      'RUNNER_',
      'PER_TENANT_',
      'STORE_',
      'FILES_',
    ],
    ...[
      'METRICS_',
      'SIGN_IN_',
      'SECRET_',
      'PEER_',
      'REPOSITORY_',
      'PACKAGE_',
      'INTEGRATIONS_',
      'VENDOR_',
      'ALLOWED_',
      'RETENTION_',
    ],
  ],
}
