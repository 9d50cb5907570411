/** People in tests: they sign in by links of the server and send requests with a cookie. */
import assert from 'node:assert/strict'
import { invitationToken } from './invitations.ts'
import type { TestService } from './service.ts'

export const password = 'correct horse battery'

export type PersonClient = {
  cookie: string
  /** Sends a request as a page of the service does. */
  ask<T = Record<string, unknown>>(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; headers: Headers; body: T }>
}

/** The cookies that an answer sets, in the form of a request header. */
export const cookieOf = (headers: Headers): string =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0] ?? '')
    .join('; ')

export const personAt = (
  { base, ask }: Pick<TestService, 'base' | 'ask'>,
  cookie: string,
): PersonClient => ({
  cookie,
  ask: (method, path, body, headers = {}) =>
    ask(method, path, body, { 'x-api-key': '', cookie, origin: base, ...headers }),
})

/** The token of the link that the server logged at its start. */
export function firstLink({ logged }: Pick<TestService, 'logged'>): string {
  const url = /"link":"([^"]*\/signin\/invitation#[^"]*)"/.exec(logged.join('\n'))?.[1]
  assert.ok(url, 'the server shows no link for the first owner')
  return invitationToken(url)
}

export async function accept(
  service: Pick<TestService, 'base' | 'ask'>,
  token: string,
  person: { email?: string; name?: string } = {},
): Promise<PersonClient> {
  const body = { token, name: 'Ada', password, ...person }
  const answer = await service.ask('POST', '/v1/ext/auth/invitation', body, { 'x-api-key': '' })
  assert.equal(answer.status, 200, JSON.stringify(answer.body))
  return personAt(service, cookieOf(answer.headers))
}
