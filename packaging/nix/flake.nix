# `nix run github:askbridge/askbridge?dir=packaging/nix` builds the program from this checkout.
{
  description = "Answer what coding agents ask, from wherever you are";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs =
    { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = nixpkgs.lib.genAttrs systems;
      manifest = builtins.fromTOML (builtins.readFile ../../Cargo.toml);
    in
    {
      packages = each (
        system:
        let
          pkgs = nixpkgs.legacyPackages.${system};
        in
        {
          default = pkgs.rustPlatform.buildRustPackage {
            pname = "askbridge";
            version = manifest.workspace.package.version;
            src = ../..;
            cargoLock.lockFile = ../../Cargo.lock;
            cargoBuildFlags = [ "--bin" "askbridge" ];
            # The tests start browsers and agents: the gate runs them.
            doCheck = false;
            nativeBuildInputs = [ pkgs.installShellFiles ];
            postInstall = ''
              $out/bin/askbridge man man
              installManPage man/*
              for shell in bash zsh fish; do $out/bin/askbridge completions $shell > askbridge.$shell; done
              installShellCompletion askbridge.{bash,zsh,fish}
            '';
            meta = {
              homepage = manifest.workspace.package.repository;
              license = pkgs.lib.licenses.asl20;
              mainProgram = "askbridge";
            };
          };
        }
      );
    };
}
