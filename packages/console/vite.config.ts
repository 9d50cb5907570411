import { fileURLToPath } from 'node:url'
import tailwind from '@tailwindcss/vite'
import { tanstackRouter } from '@tanstack/router-plugin/vite'
import react from '@vitejs/plugin-react'
import type { Plugin } from 'vite'
import { defineConfig } from 'vite'

/** The running server that `npm run console` shows. */
const server = process.env['CONSOLE_SERVER'] ?? 'http://127.0.0.1:8787'
const at = (path: string) => fileURLToPath(new URL(path, import.meta.url))
const proxied = ['/v1', '/openapi.json', '/docs', '/signin']

/** The style comes before the scripts: a browser has six connections, and paints nothing without the style. */
const styleFirst: Plugin = {
  name: 'style-first',
  transformIndexHtml: {
    order: 'post',
    handler(html) {
      const [style = ''] = /<link rel="stylesheet"[^>]*>/.exec(html) ?? []
      return html.replace(style, '').replace('<script', `${style}\n    <script`)
    },
  },
}

// The default export is what Vite reads.
export default defineConfig(({ command }) => ({
  root: at('.'),
  // Addresses within the build are relative: the server says by <base> where the console lies.
  base: command === 'build' ? './' : '/console/',
  plugins: [
    tanstackRouter({
      target: 'react',
      routesDirectory: at('src/routes'),
      generatedRouteTree: at('src/route-tree.gen.ts'),
      autoCodeSplitting: true,
      quoteStyle: 'single',
      semicolons: false,
      disableLogging: true,
    }),
    react(),
    tailwind(),
    styleFirst,
  ],
  build: {
    // The colours of tokens.css need a browser of the last two years.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    cssCodeSplit: false,
    emptyOutDir: true,
    manifest: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    rolldownOptions: {
      // What every page needs at once is one file: a browser has six connections, and each small file waits for one.
      output: { codeSplitting: { groups: [{ name: 'first', tags: ['$initial'] }] } },
    },
  },
  server: {
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(proxied.map((path) => [path, { target: server }])),
  },
}))
