/** Requests of this service to an identity provider, by the operator's dialler. */
import { limitBytes } from '@steward/base/byte-limit.ts'
import { mebibyte, secondMs } from '@steward/base/settings/kinds.ts'
import { asOperator } from '../../../ground/core/security/dial.ts'

const patienceMs = 5 * secondMs

/** The provider has refused what it was given: its answer is no failure of the network. */
export class ProviderRefusal extends Error {
  readonly status: number
  /** `error` of the answer, such as `invalid_grant`. RFC 6749 5.2 */
  readonly code: string | undefined

  constructor(host: string, status: number, code: string | undefined) {
    super(`${host} answered ${status}${code === undefined ? '' : ` ${code}`}`)
    this.status = status
    this.code = code
  }
}

async function readJson(answer: Response): Promise<unknown> {
  if (!answer.body) return undefined
  const tooLarge = () => new Error('the answer of the identity provider is larger than 1 MiB')
  const pieces = await Array.fromAsync(limitBytes(answer.body, mebibyte, tooLarge))
  return JSON.parse(Buffer.concat(pieces).toString('utf8'))
}

const errorOf = (body: unknown): string | undefined =>
  typeof body === 'object' && body !== null && 'error' in body && typeof body.error === 'string'
    ? body.error.slice(0, 100)
    : undefined

/** The JSON of a successful answer. Throws `ProviderRefusal` for a status of 400 to 499. */
export async function askProvider(
  url: string,
  { headers = {}, form }: { headers?: Record<string, string>; form?: URLSearchParams },
): Promise<unknown> {
  const answer = await asOperator(() =>
    fetch(url, {
      headers: { accept: 'application/json', 'user-agent': 'Steward', ...headers },
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs),
      ...(form && { method: 'POST', body: form }),
    }),
  )
  const { host } = new URL(url)
  if (answer.ok) return readJson(answer)
  const body = await readJson(answer).catch(() => undefined)
  if (answer.status < 500 && answer.status !== 429)
    throw new ProviderRefusal(host, answer.status, errorOf(body))
  throw new Error(`${host} answered ${answer.status}`)
}
