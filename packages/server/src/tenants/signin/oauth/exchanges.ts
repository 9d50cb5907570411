/** All that a client can do with a code or a token. */
import { assertionExchange } from './assertion.ts'
import { codeExchanges } from './exchange.ts'
import { endLogin } from './end-login.ts'
import { refreshExchange } from './refresh.ts'
import { oauthStore } from './store.ts'

export function oauthExchanges(
  deps: Parameters<typeof refreshExchange>[0] & Parameters<typeof assertionExchange>[0],
) {
  const { control } = deps.databases
  return {
    ...codeExchanges(deps),
    exchangeRefreshToken: refreshExchange(deps),
    exchangeAssertion: assertionExchange(deps),

    /** Ends the login of an access or refresh token. Says nothing of tokens that are not known. RFC 7009 */
    async revoke(token: string): Promise<void> {
      await control.write(async (tx) => {
        const row = await oauthStore(tx).token(token)
        if (!row) return
        const { tenant_id: tenant, key_id: keyId } = row
        await endLogin(tx, {
          tenant,
          keyId,
          reason: 'its client has logged out',
          clock: deps.clock,
        })
      })
    },
  }
}

export type OAuthExchanges = ReturnType<typeof oauthExchanges>
