/** Passes a request on to the service. */
import type { IncomingMessage } from 'node:http'
import type { Log } from '@steward/base/log.ts'
import type { Agent } from 'undici'
import { sendRequest } from '../../ground/core/security/undici.ts'
import { internalHeader } from '../../capabilities/integrations/deliveries/entrance.ts'
import { PlatformError } from '../../ground/core/errors.ts'
import { clientAddress } from '../../ground/http/client-address.ts'
import type { ProcessSettings } from './settings.ts'

export type PassedRequest = {
  /** A path of the service, built from the matched parts of the request, so that no other path is reached. */
  path: string
  search: string
  /** The names of the headers that are passed on. */
  names: readonly string[]
  /** Absent for a GET. */
  body?: string
  /** True where the answer may be a page for a browser, with its cookie and its policy. */
  isPage?: boolean
}

export type Answer = { status: number; headers: Record<string, string>; text: string }

export type Pass = (incoming: IncomingMessage, passed: PassedRequest) => Promise<Answer>

const answerHeaders = ['content-type', 'retry-after']
const pageHeaders = [
  ...answerHeaders,
  ...['set-cookie', 'content-security-policy', 'cache-control'],
  ...['referrer-policy', 'cross-origin-opener-policy', 'x-content-type-options'],
]

/** Resolves to the service's answer, whatever its status. Throws `unavailable` when the service does not answer. */
export const createPass =
  (settings: ProcessSettings, { agent, log }: { agent: Agent; log: Log }): Pass =>
  async (incoming, { path, search, names, body, isPage = false }) => {
    const address = clientAddress(incoming, { proxies: settings.trustedProxies })
    try {
      const answer = await sendRequest(`${settings.serviceUrl}${path}${search}`, {
        dispatcher: agent,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...headersOf(incoming.headers, names),
          [internalHeader]: settings.internalSecret,
          'x-forwarded-for': address,
        },
        body: body ?? null,
      })
      return {
        status: answer.statusCode,
        headers: headersOf(answer.headers, isPage ? pageHeaders : answerHeaders),
        text: await answer.body.text(),
      }
    } catch (error) {
      log.warn('the service gave no answer', { error })
      throw new PlatformError('unavailable', 'the service gives no answer; send it again later')
    }
  }

const headersOf = (
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = headers[name]
      return typeof value === 'string' ? [[name, value]] : []
    }),
  )
