/** Answers of the endpoints that clients call, in the words of OAuth. RFC 6749 5 */
import { PlatformError } from '../../../ground/core/errors.ts'
import { errorAnswer } from '../../../ground/http/errors.ts'
import type { RouteReply } from '../../../ground/http/reply.ts'
import type { People } from '../../people/people.ts'
import type { OAuthRefusal } from './refusal.ts'
import { isRefusal } from './refusal.ts'

export const noStore = { 'cache-control': 'no-store', pragma: 'no-cache' }

export const oauthAnswer = (
  status: number,
  body: object,
  headers: Record<string, string> = {},
): RouteReply => ({
  reply: 'json',
  status,
  body,
  headers: { ...noStore, ...headers },
})

const refusalAnswer = ({ refused, why }: OAuthRefusal): RouteReply =>
  oauthAnswer(refused === 'invalid_client' ? 401 : 400, { error: refused, error_description: why })

/** Waiting devices are no guesses. */
const isGuess = ({ refused }: OAuthRefusal) =>
  !['authorization_pending', 'slow_down', 'access_denied'].includes(refused)

/** Answers in the words of OAuth, whatever goes wrong with the request. */
export async function inOAuthWords(
  { admit }: Pick<People, 'admit'>,
  address: string,
  run: () => Promise<RouteReply | OAuthRefusal>,
): Promise<RouteReply> {
  try {
    const done = await run()
    if (!isRefusal(done)) return done
    if (isGuess(done)) await admit('failures', address)
    return refusalAnswer(done)
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    const { status, headers } = errorAnswer(error, { dialect: 'interface', requestId: '' })
    const isLater = error.kind === 'rate_limited' || error.kind === 'unavailable'
    const code = isLater ? 'temporarily_unavailable' : 'invalid_request'
    return oauthAnswer(status, { error: code, error_description: error.message }, headers)
  }
}
