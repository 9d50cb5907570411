import type { ModelWire } from '../spec.ts'

/** What the client of a wire puts behind the base URL; the model stands in the path of one wire. */
const paths: Record<ModelWire, string> = {
  'anthropic-messages': '/messages',
  'openai-completions': '/chat/completions',
  'openai-responses': '/responses',
  'google-generative-ai': '/models',
}

/** `isExact`: no API version is put behind the URL. */
type BaseUrl = { base_url: string; native_config?: { exactBaseUrl?: boolean } }

/**
 * The URL for the client of a wire. Anthropic's client adds the API version itself; the other clients expect it in the
 * URL. A whole address that somebody has copied is taken as well, without the path that the client adds.
 */
export function clientBaseUrl(wire: ModelWire, { base_url, native_config }: BaseUrl): string {
  const given = base_url.trim().replace(/\/+$/, '')
  const isWhole = given.endsWith(paths[wire]) && wire !== 'google-generative-ai'
  const url = isWhole ? given.slice(0, -paths[wire].length).replace(/\/+$/, '') : given
  if (wire === 'anthropic-messages') return url.replace(/\/v1$/, '')
  if (isWhole || native_config?.exactBaseUrl === true) return url
  if (/\/v\d+[a-z0-9]*(\/|$)/.test(new URL(url).pathname)) return url
  return wire === 'google-generative-ai' ? `${url}/v1beta` : `${url}/v1`
}

/** The address that a request of the model goes to, without its query. */
export function requestAddress(wire: ModelWire, spec: BaseUrl & { model: string }): string {
  const base = clientBaseUrl(wire, spec)
  if (wire === 'anthropic-messages') return `${base}/v1${paths[wire]}`
  if (wire === 'google-generative-ai')
    return `${base}${paths[wire]}/${spec.model}:streamGenerateContent`
  return `${base}${paths[wire]}`
}
