/** A client of the service for a worker: the queue with the environment's key, and each claim with its own token. */
import Anthropic, { APIError } from '@anthropic-ai/sdk'
import { z } from 'zod'

const Secret = z.object({ sessions_token: z.string().min(1) })

export const readSessionsToken = (secret: string): string =>
  Secret.parse(JSON.parse(Buffer.from(secret, 'base64url').toString())).sessions_token

export type WorkAssignment = { work: string; session: string; secret: string }
export type SessionView = { id: string; environmentId: string; status: string }
export type HeartbeatAnswer = { last: string; extended: boolean; state: string; ttlMs: number }

export type ClaimClient = {
  session(signal: AbortSignal): Promise<SessionView>
  /** `last`: the value that the previous heartbeat returned. */
  beat(last: string | undefined, ttlSeconds: number, signal: AbortSignal): Promise<HeartbeatAnswer>
  stop(): Promise<void>
  /** Sends a request with the claim's token. Throws for statuses other than success and `expected`. */
  ask: (
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    body?: string | AsyncIterable<Uint8Array>,
    expected?: readonly number[],
  ) => Promise<Response>
}

export type WorkService = {
  poll(
    wait: { blockMs: number; reclaimMs: number },
    signal: AbortSignal,
  ): Promise<WorkAssignment | null>
  acknowledge(item: WorkAssignment, signal: AbortSignal): Promise<void>
  /** Number of unclaimed items. */
  depth(signal: AbortSignal): Promise<number>
  /** Throws when the secret contains no token. */
  claim(item: WorkAssignment): ClaimClient
}

/** In ms. A broken connection may be silent for ever. */
const timeout = 20_000

/** True for a refusal that will not change, unlike a temporary failure. */
export const isRefusal = (error: unknown): error is APIError =>
  error instanceof APIError &&
  error.status !== undefined &&
  error.status >= 400 &&
  error.status < 500 &&
  ![408, 409, 429].includes(error.status)

export function serviceAt(options: {
  baseUrl: string
  environmentId: string
  /** SECRET: never logged. */
  environmentKey: string
  workerId: string
}): WorkService {
  const { baseUrl, environmentId: environment_id, environmentKey, workerId } = options
  const clientOf = (authToken: string) =>
    new Anthropic({ baseURL: baseUrl, apiKey: null, authToken, maxRetries: 1, timeout }).beta
  const { work } = clientOf(environmentKey).environments
  return {
    async poll({ blockMs, reclaimMs }, signal) {
      const found = await work.poll(
        environment_id,
        {
          ...(blockMs > 0 ? { block_ms: blockMs } : {}),
          reclaim_older_than_ms: reclaimMs,
          'Anthropic-Worker-ID': workerId,
        },
        { signal },
      )
      if (!found) return null
      return { work: found.id, session: found.data.id, secret: found.secret ?? '' }
    },
    async acknowledge(item, signal) {
      await work.ack(item.work, { environment_id }, { signal })
    },
    async depth(signal) {
      return (await work.stats(environment_id, {}, { signal })).depth
    },
    claim({ work: id, session, secret }) {
      const token = readSessionsToken(secret)
      const { sessions, environments } = clientOf(token)
      return {
        async session(signal) {
          const seen = await sessions.retrieve(session, {}, { signal })
          return { id: seen.id, environmentId: seen.environment_id, status: seen.status }
        },
        async beat(last, ttlSeconds, signal) {
          const expected_last_heartbeat = last ?? 'NO_HEARTBEAT'
          const params = {
            environment_id,
            expected_last_heartbeat,
            desired_ttl_seconds: ttlSeconds,
          }
          const answer = await environments.work.heartbeat(id, params, { signal })
          return {
            last: answer.last_heartbeat,
            extended: answer.lease_extended,
            state: answer.state,
            ttlMs: answer.ttl_seconds * 1000,
          }
        },
        async stop() {
          await environments.work.stop(id, { environment_id, force: true })
        },
        async ask(method, path, body, expected = []) {
          const answer = await fetch(baseUrl + path, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              ...(typeof body === 'string' ? { 'content-type': 'application/json' } : {}),
            },
            ...(body === undefined ? {} : { body, duplex: 'half' }),
          })
          if (answer.ok || expected.includes(answer.status)) return answer
          throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
        },
      }
    },
  }
}
