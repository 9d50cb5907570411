/** Whether the identity providers of the company answer and give their keys. */
import { systemClock } from '@steward/base/time.ts'
import type { Config } from '../../ground/config/config.ts'
import { serverProgram } from '../../ground/config/settings.ts'
import { openProviders } from '../../tenants/people/identities/provider-keys.ts'
import type { SetupCheck, SetupFinding } from './finding.ts'
import { describeCauses, failed, ok } from './finding.ts'

/** Says nothing without such a provider. */
export function identityProviderChecks({ companyProviders }: Config): SetupCheck[] {
  const { name: setting } = serverProgram.settings.companyProviders
  return [...openProviders(companyProviders, systemClock)].map(
    ([id, { provider, keys }]) =>
      async (): Promise<SetupFinding> => {
        try {
          const { keys: found } = await keys.keys()
          if (provider.client || provider.asksUserinfo) await keys.discovery()
          return ok(`identity provider ${id}: it gives ${found.length} keys`)
        } catch (error) {
          return failed(
            `identity provider ${id}: ${describeCauses(error)}`,
            `look at the issuer of ${id} in ${setting}, and at EGRESS_ALLOW_PRIVATE where it has a private address`,
          )
        }
      },
  )
}
