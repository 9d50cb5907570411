/**
 * Like the global fetch, but never follows redirects. Rejects with `RequestRefused` for a request that was not sent.
 */
export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>
