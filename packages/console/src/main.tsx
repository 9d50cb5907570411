import { QueryClientProvider } from '@tanstack/react-query'
import { createRouter, RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import './styles/main.css'
import { queryClient } from './lib/query-client.ts'
import { consolePath } from './lib/place.ts'
import { reloadOnceForUpdates } from './lib/updates.ts'
import { routeTree } from './route-tree.gen.ts'

reloadOnceForUpdates()

const router = createRouter({
  routeTree,
  basepath: consolePath,
  defaultPreload: 'intent',
  defaultPreloadStaleTime: 0,
  defaultPendingMs: 150,
  scrollRestoration: true,
  context: { queryClient },
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}

const place = document.getElementById('console')
if (place)
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
