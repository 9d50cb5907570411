/** A host as it stands in a URL. RFC 3986 3.2.2 */
export const toUrlHost = (host: string): string => (host.includes(':') ? `[${host}]` : host)
