/** The page of the console: the same for every address of it, and what stands in its place without a build. */

/** The theme that somebody has set, for the first paint. */
export function readTheme(cookies: string | undefined): 'light' | 'dark' | undefined {
  const [, name] = /(?:^|;\s*)steward_theme=(light|dark)(?:;|$)/.exec(cookies ?? '') ?? []
  return name === 'light' || name === 'dark' ? name : undefined
}

/** `base` is a path: its characters were checked by URL. */
export function shellAt(shell: string, base: string, theme: string | undefined): string {
  const based = shell.replace('<base href="/console/"', `<base href="${base}"`)
  return theme === undefined ? based : based.replace('<html', `<html data-theme="${theme}"`)
}

export const unbuiltPage = (signIn: string): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>The console is not built · Steward</title>
  </head>
  <body>
    <main>
      <h1>The console is not built</h1>
      <p>Run <code>npm run build</code> in the folder of this server and load the page again; the server does not have to be started again.
      It needs the packages for development: <code>npm ci</code> without <code>--omit=dev</code>.
      <code>./try</code> builds the console when its agent has answered: then load the page again in a minute.</p>
      <p>Everything else works without it: <a href="${signIn}">Sign in</a>.</p>
    </main>
  </body>
</html>
`
