/** Settings of a service that takes tokens of a test's identity provider, and its callers by token. */
import type { TestIssuer } from '@steward/server/tenants/people/identities/issuer-fixture.ts'

type ProviderSettings = Record<string, object>

/** The setting of providers by their names. */
export const identitySettings = (providers: ProviderSettings): Record<string, string> => ({
  IDENTITY_PROVIDERS: JSON.stringify(providers),
})

/** Headers of a request by token, without a key. */
export async function tokenHeaders(
  issuer: TestIssuer,
  ...signed: Parameters<TestIssuer['sign']>
): Promise<{ 'x-api-key': string; authorization: string }> {
  return { 'x-api-key': '', authorization: `Bearer ${await issuer.sign(...signed)}` }
}
