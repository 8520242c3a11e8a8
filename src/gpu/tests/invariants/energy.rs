//! Energy estimates against values computed by hand.

use quadrille_gpu::energy::*;

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-12 * expected.abs().max(1e-12),
        "{found} instead of {expected}"
    );
}

/// A GPU of `cores` cores, with L2 and ROPs in proportion.
fn size(clock_mhz: f64, cores: u64) -> GpuSize {
    GpuSize { clock_mhz, cores, l2_bytes: cores * 262_144, rops: cores }
}

/// A million of each of three events at 612 MHz: a warp instruction takes 32 * (0.38 + 1.31 + 3.2 * 3.75)
/// = 438.08 pJ, a blend 16 * 0.5 = 8 pJ, a byte of DRAM 8 * 8 = 64 pJ; 612,000 cycles are a millisecond
/// at 0.3 * 7.6 = 2.28 W.
#[test]
fn energy_of_three_events() {
    let events = EnergyEvents {
        instructions: 1_000_000,
        quads_blended: 1_000_000,
        dram_bytes: 1_000_000,
        ..EnergyEvents::default()
    };
    let estimate = EnergySpec::default().estimate(events, 612_000, &size(612.0, 16));
    let energy = estimate.energy;
    close(energy.shader_mj, 0.438_08);
    close(energy.rop_mj, 0.008);
    close(energy.dram_mj, 0.064);
    close(energy.static_mj, 2.28);
    close(energy.caches_mj, 0.0);
    close(energy.total_mj, 2.790_08);
    close(estimate.watts_without_dram, 2.726_08);
    // 0.2 * 7.6 = 1.52 W and 32 pJ per byte; 0.5 * 7.6 = 3.8 W and 112 pJ per byte; all else by a factor of 2.
    let [low, high] = estimate.band_mj();
    close(low, 0.446_08 / 2.0 + 1.52 + 0.032);
    close(high, 0.446_08 * 2.0 + 3.8 + 0.112);
    // Twice the energy of a register, 0.384 mJ more, stays within the band.
    assert!(energy.total_mj + 0.384 < high);
}

/// Energies in pJ: sectors 34, 56 and 256, a special function 32 * 3 * 1.69 = 162.24, a raster tile 20, a bin entry 17.
#[test]
fn energy_of_the_other_events() {
    let spec = EnergySpec::default();
    let count = 1_000_000_000;
    type Part = (fn(&mut EnergyEvents) -> &mut u64, fn(&Energy) -> f64, f64);
    let parts: [Part; 6] = [
        (|e| &mut e.unit_sectors, |e| e.caches_mj, 34.0),
        (|e| &mut e.l2_sectors, |e| e.caches_mj, 56.0),
        (|e| &mut e.wire_sectors, |e| e.caches_mj, 256.0),
        (|e| &mut e.special, |e| e.shader_mj, 162.24),
        (|e| &mut e.raster_tiles, |e| e.rop_mj, 20.0),
        (|e| &mut e.bin_entries, |e| e.rop_mj, 17.0),
    ];
    for (field, part, pj) in parts {
        let mut events = EnergyEvents::default();
        *field(&mut events) = count;
        let energy = spec.estimate(events, 0, &size(612.0, 16)).energy;
        close(part(&energy), pj);
        close(energy.total_mj, pj);
    }
}

/// Two draws that differ only in DRAM have the largest ratio if a bit of DRAM costs most and static power least. A draw
/// without energy has no ratio.
#[test]
fn ratios_share_the_constants() {
    let spec = EnergySpec::default();
    let events =
        |dram_bytes| EnergyEvents { instructions: 1_000, dram_bytes, ..EnergyEvents::default() };
    let one = spec.estimate(events(4_000), 1_000, &size(612.0, 16));
    let more = spec.estimate(events(400_000), 1_000, &size(612.0, 16));
    let [ratio, low, high] = one.ratio_of(&more).unwrap();
    // Bits: static, shader, caches, DRAM, fixed-function units. For the lowest ratio, DRAM is at its lower bound and static
    // and shader energy at their upper bounds; for the highest ratio, the reverse.
    close(low, more.corners_mj()[0b00011] / one.corners_mj()[0b00011]);
    close(high, more.corners_mj()[0b01000] / one.corners_mj()[0b01000]);
    assert!(low < ratio && ratio < high);
    let nothing = spec.estimate(EnergyEvents::default(), 0, &size(612.0, 16));
    assert_eq!([nothing.ratio_of(&one), one.ratio_of(&nothing)], [None, None]);
    close(nothing.watts_without_dram, 0.0);
}

/// A GPU of 84 cores has 84 / 16 of the rail of 7.6 W, and 0.3 of this power is static. 2 million instructions in a
/// millisecond take 0.876 W. With the L2 and the ROPs of the smaller GPU, 0.7 of the static power grows.
#[test]
fn static_power_grows_with_the_parts() {
    let spec = EnergySpec::default();
    let events = |instructions| EnergyEvents { instructions, ..EnergyEvents::default() };
    let estimate = |instructions, gpu| spec.estimate(events(instructions), 612_000, &gpu);
    let large = estimate(2_000_000, size(612.0, 84));
    close(large.energy.static_mj, 0.3 * 7.6 * 84.0 / 16.0);
    close(large.rail_w, 39.9);
    assert!(!large.exceeds_rail());
    assert!(estimate(20_000_000, size(612.0, 16)).exceeds_rail());
    let cores_alone = GpuSize { cores: 84, ..size(612.0, 16) };
    let grown = 0.7 * 84.0 / 16.0 + 0.3;
    close(estimate(0, cores_alone).energy.static_mj, 0.3 * 7.6 * grown);
}

/// 0.65 V at 612 MHz and 0.36 V per GHz: at 1224 MHz (0.87032 / 0.65)^2 = 1.7928 of the energy of an event, and half of the
/// time at 1.7928 of the static power. At 306 MHz the voltage is at its minimum of 0.6 V, and the time doubles. The energy
/// of DRAM does not change. The reference clock takes the least energy.
#[test]
fn a_faster_clock_takes_a_higher_voltage() {
    let spec = EnergySpec::default();
    let events =
        EnergyEvents { instructions: 1_000_000, dram_bytes: 1_000_000, ..EnergyEvents::default() };
    let at = |mhz| spec.estimate(events, 612_000, &size(mhz, 16)).energy;
    let [slow, middle, fast] = [306.0, 612.0, 1224.0].map(at);
    let square = |volts: f64| (volts / 0.65).powi(2);
    close(fast.shader_mj, 0.438_08 * square(0.870_32));
    close(fast.static_mj, 2.28 * square(0.870_32) / 2.0);
    close(slow.static_mj, 2.28 * square(0.6) * 2.0);
    close(slow.dram_mj, fast.dram_mj);
    assert!(middle.total_mj < slow.total_mj && middle.total_mj < fast.total_mj);
}
