/** Tokens of all credentials: those of OAuth are refreshed, those of secret managers may have been rotated. */
import type { CallTokens } from '../inject/forward.ts'
import type { CredentialOpener } from '../inject/open-credentials.ts'
import { isOAuth } from '../policy/credential.ts'
import type { Refresh } from './refresh.ts'

export const tokenSource = (
  refresh: Pick<Refresh, 'ahead' | 'after'>,
  opener: Pick<CredentialOpener, 'rotated'>,
): CallTokens => ({
  ahead: async (row, token) =>
    isOAuth(row) ? refresh.ahead(row, token) : { token, refreshed: false, tried: false },
  after: (row, token, session) =>
    isOAuth(row) ? refresh.after(row, token) : opener.rotated(row, token, session || null),
})
