/** All that a client can do with a code or a token. */
import { codeExchanges } from './exchange.ts'
import { endLogin } from './end-login.ts'
import { refreshExchange } from './refresh.ts'
import { oauthStore } from './store.ts'

export function oauthExchanges(deps: Parameters<typeof refreshExchange>[0]) {
  const { control } = deps.databases
  return {
    ...codeExchanges(deps),
    exchangeRefreshToken: refreshExchange(deps),

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
