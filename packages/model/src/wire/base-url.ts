import type { ModelWire } from '../spec.ts'

/** Anthropic's client adds the API version itself; the other clients expect it in the URL. */
export function clientBaseUrl(wire: ModelWire, baseUrl: string): string {
  const url = baseUrl.trim().replace(/\/+$/, '')
  if (wire === 'anthropic-messages') return url.replace(/\/v1$/, '')
  if (/\/v\d+[a-z0-9]*(\/|$)/.test(new URL(url).pathname)) return url
  return wire === 'google-generative-ai' ? `${url}/v1beta` : `${url}/v1`
}
