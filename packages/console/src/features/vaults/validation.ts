/** What came of trying a credential, as steps and one sentence. */
import type { CredentialValidation } from '../../lib/api/types.ts'
import type { StatusTone } from '../../lib/tones.ts'
import { credentialWords as own } from './words.ts'

export type ValidationStep = { name: string; outcome: string; tone: StatusTone }
type ServerAnswer = NonNullable<CredentialValidation['mcp_probe']>['http_response']

const { steps } = own

/** What the server said to a token. */
function probed(
  status: CredentialValidation['status'],
  answer: ServerAnswer | undefined,
): Omit<ValidationStep, 'name'> {
  if (status === 'valid') return { outcome: steps.works, tone: 'done' }
  const code = answer?.status_code
  if (status === 'invalid')
    return { outcome: code ? steps.refused(code) : steps.refusedOnly, tone: 'failed' }
  return { outcome: code ? steps.answered(code) : steps.noAnswer, tone: 'failed' }
}

/** `endpoint`: the host at which the token is renewed. */
export function stepsOf(
  { status, mcp_probe, refresh }: CredentialValidation,
  endpoint: string,
): ValidationStep[] {
  const answer = mcp_probe?.http_response
  const renew = steps.renew(endpoint)
  if (refresh === null)
    return [
      { name: steps.first, ...probed(status, answer) },
      {
        name: renew,
        outcome: status === 'valid' ? steps.notNeeded : steps.notTried,
        tone: 'queued',
      },
    ]
  const isRenewed = refresh.status === 'succeeded'
  // The answer to the first token is told only where there was no second one.
  const first = probed('invalid', isRenewed ? null : answer)
  const code = refresh.http_response?.status_code
  const outcomes = {
    succeeded: steps.renewed,
    failed: code ? steps.refused(code) : steps.refusedOnly,
    connect_error: steps.noAnswer,
    no_refresh_token: steps.noRefreshToken,
  }
  return [
    { name: steps.first, ...first },
    { name: renew, outcome: outcomes[refresh.status], tone: isRenewed ? 'done' : 'failed' },
    {
      name: steps.second,
      ...(isRenewed
        ? probed(status, answer)
        : { outcome: steps.notTried, tone: 'queued' as const }),
    },
  ]
}

export const verdictOf = ({ status, refresh }: CredentialValidation): string =>
  status === 'valid' && refresh?.status === 'succeeded'
    ? own.verdicts.renewed
    : own.verdicts[status]

/** The answer that explains a failure: that of the provider before that of the server. */
export const saidBy = ({ mcp_probe, refresh }: CredentialValidation): string =>
  refresh?.http_response?.body || mcp_probe?.http_response?.body || ''
