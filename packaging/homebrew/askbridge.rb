# The formula of a release: packaging/formula.py fills in what stands in capitals.
class Askbridge < Formula
  desc "Answer what coding agents ask, from wherever you are"
  homepage "https://github.com/askbridge/askbridge"
  version "VERSION"
  license "Apache-2.0"

  base = "https://github.com/askbridge/askbridge/releases/download/v#{version}/askbridge-#{version}"
  on_macos do
    on_arm do
      url "#{base}-aarch64-apple-darwin.tar.gz"
      sha256 "SHA256-aarch64-apple-darwin"
    end
    on_intel do
      url "#{base}-x86_64-apple-darwin.tar.gz"
      sha256 "SHA256-x86_64-apple-darwin"
    end
  end
  on_linux do
    on_arm do
      url "#{base}-aarch64-unknown-linux-musl.tar.gz"
      sha256 "SHA256-aarch64-unknown-linux-musl"
    end
    on_intel do
      url "#{base}-x86_64-unknown-linux-musl.tar.gz"
      sha256 "SHA256-x86_64-unknown-linux-musl"
    end
  end

  def install
    bin.install "bin/askbridge"
    bash_completion.install "share/bash-completion/completions/askbridge"
    zsh_completion.install "share/zsh/site-functions/_askbridge"
    fish_completion.install "share/fish/vendor_completions.d/askbridge.fish"
    man1.install Dir["share/man/man1/*"]
  end

  test do
    assert_match "You chose: option-b", shell_output("#{bin}/askbridge demo --answer 'Option B'")
  end
end
