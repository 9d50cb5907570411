/** Every setting of the server. A setting stands in one place: its declaration in `sections/`. */
import { integrations } from './sections/integrations.ts'
import { outbound } from './sections/outbound.ts'
import { serving } from './sections/serving.ts'
import { signIn } from './sections/sign-in.ts'
import { forSessions } from './sections/sessions.ts'

export const server = {
  what: 'server',
  settings: { ...serving, ...signIn, ...outbound, ...integrations, ...forSessions },
  /** Ours and the specification's. */
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
    ...['METRICS_', 'SIGN_IN_', 'PEER_', 'REPOSITORY_', 'PACKAGE_', 'INTEGRATIONS_', 'VENDOR_'],
  ],
}
