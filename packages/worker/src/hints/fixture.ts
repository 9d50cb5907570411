/** For tests: hints as the service signs and sends them. Standard Webhooks */
import { createHmac } from 'node:crypto'

export const hintKey = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

export type SignedHint = { body: string; headers: Record<string, string> }

export function signHint(
  id: string,
  { type = 'session.status_run_started', key = hintKey, at = Date.now() } = {},
): SignedHint {
  const data = { type, id: 'sesn_1', organization_id: 'org', workspace_id: 'wrkspc_1' }
  const body = JSON.stringify({ type: 'event', id, created_at: '2026-01-01T00:00:00Z', data })
  const seconds = String(Math.floor(at / 1000))
  const mac = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
  const signature = `v1,${mac.update(`${id}.${seconds}.${body}`).digest('base64')}`
  return {
    body,
    headers: {
      'webhook-id': id,
      'webhook-timestamp': seconds,
      'webhook-signature': signature,
    },
  }
}

export async function sendHint(port: number, { body, headers }: SignedHint): Promise<number> {
  const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body })
  return answer.status
}
