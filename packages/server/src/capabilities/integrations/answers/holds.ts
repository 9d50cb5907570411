/**
 * The times until which receivers want no request. Providers limit an installation, so a time holds for all its
 * threads. The map belongs to this process: another process sends one request and learns the time too.
 */
export type Holds = Map<string, number>
