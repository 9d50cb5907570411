/** Hosts that package managers use by default. A limited environment with `allow_package_managers` reaches them. */
import type { PackageManager } from '@steward/protocol/packages.ts'

export const packageRegistries: Readonly<Record<PackageManager, readonly string[]>> = {
  apt: [
    'deb.debian.org',
    'security.debian.org',
    'archive.ubuntu.com',
    'security.ubuntu.com',
    'ports.ubuntu.com',
  ],
  cargo: ['crates.io', 'index.crates.io', 'static.crates.io'],
  gem: ['rubygems.org', 'index.rubygems.org'],
  go: ['proxy.golang.org', 'sum.golang.org'],
  npm: ['registry.npmjs.org'],
  pip: ['pypi.org', 'files.pythonhosted.org'],
}
