/** Signatures of Standard Webhooks, which a receiver checks. [webhooks/verified] */
import { createHmac, randomBytes } from 'node:crypto'

const prefix = 'whsec_'

/** 256 random bits. */
export const newSecret = (): string => prefix + randomBytes(32).toString('base64')

export const signingKey = (secret: string): Buffer =>
  Buffer.from(secret.startsWith(prefix) ? secret.slice(prefix.length) : secret, 'base64')

/** Each secret signs: during a rotation a receiver may hold either. */
export function signedHeaders(
  { id, body }: { id: string; body: string },
  secrets: readonly string[],
  nowMs: number,
): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000))
  const signatures = secrets.map((secret) => {
    const mac = createHmac('sha256', signingKey(secret)).update(`${id}.${timestamp}.${body}`)
    return `v1,${mac.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  }
}
