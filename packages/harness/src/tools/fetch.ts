/** As the global one, but that redirects are never followed. Rejects with `Refused` for what was not sent. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>
